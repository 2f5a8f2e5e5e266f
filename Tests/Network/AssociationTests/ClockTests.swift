import Messages
import Propagation
import Settings
import TestSupport
import Testing
import Values

@testable import Association

/// Waits that end by the clock: nobody's siren waits for another message.
@Suite struct ClockTests {
    /// Seconds after what it speaks of that a message comes.
    private static let delay = 0.1

    private static func nanoseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1e9).rounded()) }

    /// What a detector says, and when it does (seconds), with a clock that stops at each message and where anything is due.
    /// - Parameter steps: looks at the clock that often as well.
    private static func said(
        _ messages: [Country.Message], isEarly: Bool = true, until end: Double, steps: Double? = nil,
        _ detector: inout NetworkDetector
    ) -> [(at: Double, version: DueVersion)] {
        var all: [(at: Double, version: DueVersion)] = []
        func pass(_ detector: inout NetworkDetector, to time: Int64, _ all: inout [(at: Double, version: DueVersion)]) {
            while let due = detector.due, due < time {
                all += detector.pass(clock: due).map { (Double(due) / 1e9, $0) }
            }
        }
        var step = messages.first?.time ?? end
        for message in messages {
            let time = nanoseconds(message.time + delay)
            while let steps, step < message.time + delay {
                pass(&detector, to: nanoseconds(step), &all)
                all += detector.pass(clock: nanoseconds(step)).map { (step, $0) }
                step += steps
            }
            pass(&detector, to: time, &all)
            all += detector.take(message, arrival: time).map { (Double(time) / 1e9, $0) }
        }
        pass(&detector, to: nanoseconds(end), &all)
        return all
    }

    private static func said(
        _ messages: [Country.Message], until end: Double, steps: Double? = nil
    ) -> [(at: Double, version: DueVersion)] {
        var detector = NetworkDetector(isEarly: true)
        return said(messages, until: end, steps: steps, &detector)
    }

    /// A version with another onset may follow after 0.2 s; peaks that grow at twenty stations a second make no more than one a
    /// second. (They had made five, 75 in all of one earthquake.)
    @Test func peaksThatGrowDoNotHurry() throws {
        var country = Country(stations: 9, side: 60, seed: 32)
        let onsets = country.earthquake([3, 2], at: 50)
        var messages = onsets
        for (number, onset) in onsets.enumerated() {
            for k in 1...40 {
                var update = onset
                update.time = onset.time + Double(k) * 0.25 + Double(number) * 0.01
                guard case .object(var members) = update.payload else { continue }
                for i in members.indices {
                    switch members[i].key {
                    case "event_type": members[i].value = "update"
                    case "pga": members[i].value = .double(0.02 * Double(k + 1))
                    default: break
                    }
                }
                members.append(.init("duration_s", .double(update.time - onset.time)))
                update.payload = .object(members)
                messages.append(update)
            }
        }
        messages.sort { $0.time < $1.time }
        let said = Self.said(country.infos + messages, until: Country.start + 200)
        let grown = zip(said, said.dropFirst()).filter { a, b in
            b.version.message.kind == .update && b.version.message.stations.count <= a.version.message.stations.count
        }
        #expect(grown.count > 5)
        for (a, b) in grown { #expect(b.version.time - a.version.time >= 1_000_000_000) }
        #expect(said.count < 30, "\(said.count) versions")
    }

    /// Many onsets at once that no station has judged: they are waited with until gusts would have shown themselves, 2.4 s after
    /// the wave was at four stations by the source then known, and nothing else comes. The earthquake is known then, and not
    /// when another message comes or three seconds later.
    @Test func aWaitEndsWithoutAnotherMessage() throws {
        var country = Country(stations: 30, side: 30, seed: 31)
        let onsets = country.earthquake([3, 2], at: 50).sorted { $0.time < $1.time }
        let said = Self.said(country.infos + onsets, until: Country.start + 200)
        let first = try #require(said.first)
        let fourth = onsets[3].time
        #expect(first.at > fourth + 2 && first.at < fourth + 4, "\(first.at - fourth) s")
        #expect(first.version.message.kind == .onset && first.version.message.stations.count > 15)
        #expect(Set(said.map(\.version.message.eventID)).count == 1)
        // The same by another message at that time.
        let later = Country.onset(country.places[0].name, fourth + 20)
        let other = detected(country.infos + onsets + [later], isEarly: true)
        #expect(other.first?.message.stations.map(\.id) == first.version.message.stations.map(\.id))
    }

    /// While the waves are on their way each onset makes a version a fifth of a second later at most.
    @Test func versionsFollowTheOnsets() {
        var country = Country(stations: 9, side: 60, seed: 32)
        let onsets = country.earthquake([3, 2], at: 50).sorted { $0.time < $1.time }
        let said = Self.said(country.infos + onsets, until: Country.start + 200)
        #expect(said.count > 2)
        let begin = said.first?.at ?? 0
        for onset in onsets where onset.time + Self.delay > begin {
            let id = onset.payload["event_id"]?.rawText
            let version = said.first { one in one.version.message.stations.contains { $0.eventID == id } }
            let wait = (version?.at ?? .infinity) - onset.time - Self.delay
            #expect(wait < 0.2 + 2 * Self.delay, "\(wait) s")
        }
        for (a, b) in zip(said, said.dropFirst()) { #expect(b.version.time - a.version.time >= 200_000_000) }
    }

    /// Who looks at the clock often, seldom or never between messages, says the same of the same times; so does one that was
    /// started again, from its log.
    @Test func theSameFollowsHoweverOftenTheClockIsLookedAt() throws {
        let (infos, messages, _) = AssociationTests.months
        let end = Country.start + 500
        let whole = Self.said(infos + messages, until: end).map(\.version)
        #expect(Set(whole.map(\.message.eventID)).count >= 4)
        for steps in [0.05, 0.7, 20] {
            #expect(Self.said(infos + messages, until: end, steps: steps).map(\.version) == whole, "\(steps) s")
        }
        for stop in stride(from: 40, to: messages.count, by: 97) {
            var first = NetworkDetector(isEarly: true)
            var said = Self.said(infos + Array(messages[..<stop]), until: messages[stop].time, &first).map(\.version)
            var second = NetworkDetector(isEarly: true)
            for one in said {
                second.restore(try JSONReader.read(one.message.json(boot: "", number: 0, time: one.time)))
            }
            second.isMuted = true
            for message in infos { _ = second.take(message) }
            for message in messages[..<stop] {
                let arrival = Self.nanoseconds(message.time + Self.delay)
                _ = second.pass(clock: arrival)
                _ = second.take(message, arrival: arrival)
            }
            second.isMuted = false
            said += Self.said(Array(messages[stop...]), until: end, &second).map(\.version)
            let last = { (all: [DueVersion]) in
                Dictionary(grouping: all.map(\.message), by: \.eventID).mapValues { $0.last?.contentJSON ?? [] }
            }
            #expect(last(said) == last(whole), "at \(stop)")
        }
    }

    /// Messages that come late are waited for, so that their stations do not count as silent; punctual ones are not.
    @Test func theClockGoesByHowLateMessagesAre() {
        var one = Punctuality()
        #expect(one.patience == 1_000_000_000)
        for _ in 0..<50 { one.note(80_000_000) }
        #expect(one.patience == 80_000_000)
        for _ in 0..<6 { one.note(700_000_000) }
        #expect(one.patience == 700_000_000)
        // What was stored meanwhile says nothing; a clock that is ahead is not waited for.
        for _ in 0..<50 { one.note(40_000_000_000) }
        #expect(one.patience == 700_000_000)
        for _ in 0..<50 { one.note(-3_000_000_000) }
        #expect(one.patience == 0)
        for _ in 0..<50 { one.note(9_000_000_000) }
        #expect(one.patience == Punctuality.longest)
    }

    // MARK: Silence

    private static func online(_ station: String, _ seconds: Double, _ word: String = "online") -> Country.Message {
        .init(station: station, topic: "state/online", payload: .string(word), time: seconds)
    }

    /// A defect: stations that came online after the origin, or did not exist before, counted as silent, and the earthquake
    /// became `disputed`.
    @Test(arguments: ["offline", "new", "there"]) func whoWasNotThereIsNotSilent(kind: String) throws {
        var country = Country(stations: 12, side: 40, seed: 33)
        let known = country.places.count
        let onsets = country.earthquake([3, 2], at: 50).sorted { $0.time < $1.time }
        let centre = Place(latitude: 35, longitude: -117.5)
        for i in 0..<20 {
            let offset = SIMD2(Double(i % 5) * 6 - 12, Double(i / 5) * 6 - 9)
            country.places.append(("L\(i)", Place(offset: offset, from: centre)))
        }
        let late = country.places[known...].map(\.name)
        let infos = country.infos
        let came = Country.start + 75
        var messages = Array(infos[..<known]) + onsets
        switch kind {
        case "offline":
            messages = infos + late.map { Self.online($0, Country.start, "offline") } + onsets
            messages += late.map { Self.online($0, came) }
        case "new":
            messages += infos[known...].map { info in
                var info = info
                info.time = came
                info.payload = info.payload.with(
                    "t", .string(Timestamp(nanoseconds: Self.nanoseconds(came)).description))
                return info
            }
        default: messages = infos + onsets
        }
        // The strong shaking is known after that.
        messages += onsets.map { onset in
            var end = onset
            end.time = Country.start + 85
            let time = Timestamp(nanoseconds: Self.nanoseconds(end.time)).description
            end.payload = onset.payload.with("event_type", "update").with("t", .string(time)).with("pga", 4.0)
            return end
        }
        let said = Self.said(messages, until: Country.start + 200).map(\.version.message)
        if kind == "there" {
            #expect(said.allSatisfy { $0.isDisputed || $0.isWithdrawn || $0.magnitude == nil })
        } else {
            let last = try #require(said.last)
            #expect(!said.contains(where: \.isDisputed) && !last.isWithdrawn)
            #expect(Set(last.silent).isDisjoint(with: late), "\(last.silent)")
            #expect(last.stations.count == onsets.count)
        }
    }
}
