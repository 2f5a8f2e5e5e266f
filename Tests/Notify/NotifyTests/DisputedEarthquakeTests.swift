import Messages
import Propagation
import Testing

@testable import seismote_notify

/// Network events that are disputed: by one operator's stations alone, or against silent stations.
@Suite struct DisputedEarthquakeTests {
    private static let second: Int64 = 1_000_000_000
    /// 2026-11-24 12:00 UTC, a Tuesday.
    private static let noon: Int64 = 1_795_521_600 * second
    private static let night = noon + 11 * 3600 * second
    private static let lone = "Disputed: one operator's stations alone report it"
    private static let silent = "Disputed: stations nearby must have been shaken by it and were not."

    private static func recipient(
        updates: Bool = false, quiet: String? = nil, hourly: Int = 20, _ rules: (inout Recipient.Rules) -> Void
    ) throws -> Recipient {
        var one = Recipient()
        (one.name, one.ntfy) = ("anna", NtfyTopic("https://ntfy.example/topic"))
        (one.updates, one.hourly) = (updates, hourly)
        one.quiet = try quiet.map { try #require(DayTime($0)) }
        rules(&one.rules)
        return one
    }

    private static func notifier(_ recipient: Recipient, held: [Notifier.Held] = []) -> Notifier {
        Notifier(
            [recipient], clock: CivilTime { _ in 0 }, page: "", test: nil, told: [], held: held, now: noon)
    }

    /// As the detector publishes it: what is disputed has no magnitude.
    private static func quake(
        _ version: Int, _ dispute: NetworkEventReading.Dispute?, isWithdrawn: Bool = false, id: String = "net-1",
        at origin: Int64 = noon, stations: [String] = ["a", "b", "c", "d"], magnitude: Double = 5.6
    ) -> Occasion {
        .quake(
            id, version: version, origin: origin, magnitude: dispute == nil ? magnitude : nil, place: (46.2, 7.4),
            intensity: 8, stations: stations.map { ($0, "\($0)-\(origin)") }, dispute: dispute, isWithdrawn: isWithdrawn
        )
    }

    private static func shaking(_ station: String, _ intensity: Double, alarm: Bool = false) -> Occasion {
        .shaking(
            .init(
                station: station, eventID: "\(station)-\(noon)", onset: noon, intensity: intensity,
                safeIntensity: intensity, likely: "earthquake", probability: 0.9, alarm: alarm, isTest: false))
    }

    /// Disputed at first: no message, by day or night, whatever the rules on earthquakes; with the rule an ordinary one that
    /// says why, whatever intensity its stations state.
    @Test(arguments: [
        (NetworkEventReading.Dispute.loneOperator, lone), (.silence, silent), (.other, "Disputed by the network"),
    ])
    func disputedAtFirst(_ dispute: NetworkEventReading.Dispute, _ sentence: String) throws {
        for isAsked in [false, true] {
            for rules: (inout Recipient.Rules) -> Void in [{ $0.magnitude = 3 }, { $0.magnitude = 0 }] {
                var notifier = Self.notifier(
                    try Self.recipient {
                        rules(&$0)
                        $0.disputed = isAsked
                    })
                // (Its stations shake strongly as well, by their own word.)
                var sent = notifier.take(Self.shaking("a", 8), now: Self.noon)
                sent += notifier.take(Self.quake(1, dispute), now: Self.noon + Self.second)
                sent += notifier.take(Self.quake(2, dispute), now: Self.noon + 20 * Self.second)
                #expect(sent.map(\.title) == (isAsked ? ["Disputed earthquake"] : []))
                #expect(sent.map(\.priority) == (isAsked ? [.ordinary] : []))
                #expect(sent.allSatisfy { $0.text.contains(sentence) })
                #expect(notifier.held.isEmpty && notifier.told.allSatisfy { !$0.isUrgent })
            }
        }
        // Not by the expected intensity either, which nobody knows of it.
        var felt = try Self.recipient { ($0.expected, $0.disputed) = (3, true) }
        felt.here = Place(latitude: 46.2, longitude: 7.4)
        var notifier = Self.notifier(felt)
        #expect(notifier.take(Self.quake(1, dispute), now: Self.noon).isEmpty)
        // In quiet hours the one that was asked for waits.
        notifier = Self.notifier(try Self.recipient(quiet: "22:00-07:00") { ($0.magnitude, $0.disputed) = (3, true) })
        #expect(notifier.take(Self.quake(1, dispute, at: Self.night), now: Self.night).isEmpty)
        #expect(notifier.held.map(\.title) == ["Disputed earthquake"])
    }

    /// Disputed later: who was told is told so where messages are replaced, silently; nobody else is.
    @Test(arguments: [false, true]) func disputedLater(updates: Bool) throws {
        let later = Self.noon + 30 * Self.second
        for expected in [nil, 3.0] {
            var one = try Self.recipient(updates: updates) { ($0.magnitude, $0.expected) = (4, expected) }
            one.here = Place(latitude: 46.2, longitude: 7.4)
            var notifier = Self.notifier(one)
            #expect(notifier.take(Self.quake(1, nil), now: Self.noon).map(\.priority) == [.urgent])
            let sent = notifier.take(Self.quake(2, .silence), now: later)
            #expect(sent.map(\.title) == (updates ? ["Disputed earthquake"] : []))
            #expect(sent.allSatisfy { $0.priority == .low && $0.text.contains(Self.silent) && $0.edition == 2 })
            // And undisputed again: corrected again, without another sound.
            let again = notifier.take(Self.quake(3, nil), now: later + 30 * Self.second)
            #expect(again.map(\.priority) == (updates ? [.low] : []))
            #expect(again.allSatisfy { $0.title.hasPrefix("Earthquake M 5.6") })
        }
        var small = Self.notifier(try Self.recipient(updates: updates) { $0.magnitude = 6 })
        #expect(small.take(Self.quake(1, nil), now: Self.noon).isEmpty)
        #expect(small.take(Self.quake(2, .silence), now: later).isEmpty)
    }

    /// What waits for the morning is corrected there.
    @Test func disputedWhileItIsHeld() throws {
        let rules: (inout Recipient.Rules) -> Void = { $0.magnitude = 3 }
        for (version, title) in [
            (Self.quake(2, .loneOperator, at: Self.night), "Disputed earthquake"),
            (Self.quake(2, nil, isWithdrawn: true, at: Self.night), "No earthquake after all"),
        ] {
            var far = try Self.recipient(quiet: "22:00-07:00", rules)
            far.here = Place(latitude: 52.5, longitude: 13.4)
            var notifier = Self.notifier(far)
            #expect(
                notifier.take(Self.quake(1, nil, at: Self.night), now: Self.night).isEmpty && notifier.held.count == 1)
            #expect(notifier.take(version, now: Self.night + Self.second).isEmpty)
            #expect(notifier.held.map(\.title) == [title])
        }
    }

    /// No longer disputed: it is told as one that begins, urgently where it is strong.
    @Test(arguments: [false, true], [false, true]) func noLongerDisputed(isAsked: Bool, updates: Bool) throws {
        for (magnitude, priority) in [(6.8, Notice.Priority.urgent), (3.2, .ordinary)] {
            var one = try Self.recipient(updates: updates) { ($0.magnitude, $0.disputed) = (3, isAsked) }
            one.here = Place(latitude: 46.3, longitude: 7.5)
            var notifier = Self.notifier(one)
            let first = notifier.take(Self.quake(1, .loneOperator), now: Self.noon)
            #expect(first.map(\.priority) == (isAsked ? [.ordinary] : []))
            var sent = notifier.take(Self.quake(2, nil, magnitude: magnitude), now: Self.noon + 15 * Self.second)
            #expect(sent.count == 1 && sent[0].priority == priority && !sent[0].text.contains("Disputed"))
            #expect(sent[0].title.hasPrefix("Earthquake M \(magnitude)"))
            #expect(sent[0].edition == (isAsked ? 2 : 1))
            // Once: what goes back and forth rings no more.
            for version in 3..<9 {
                let isDisputed = version % 2 == 1
                sent += notifier.take(
                    Self.quake(version, isDisputed ? .silence : nil, magnitude: magnitude),
                    now: Self.noon + Int64(version) * 15 * Self.second)
            }
            #expect(sent.dropFirst().allSatisfy { $0.priority == .low } && (sent.count == 1) == !updates)
        }
    }

    /// Withdrawn, from whatever state: no urgent message, and nobody hears of it who was not told.
    @Test(arguments: [nil, NetworkEventReading.Dispute.silence], [false, true])
    func withdrawn(_ dispute: NetworkEventReading.Dispute?, isAsked: Bool) throws {
        var notifier = Self.notifier(try Self.recipient(updates: true) { ($0.magnitude, $0.disputed) = (3, isAsked) })
        let first = notifier.take(Self.quake(1, dispute), now: Self.noon)
        let isTold = dispute == nil || isAsked
        #expect(first.count == (isTold ? 1 : 0))
        let last = notifier.take(Self.quake(2, dispute, isWithdrawn: true), now: Self.noon + 15 * Self.second)
        #expect(last.map(\.title) == (isTold ? ["No earthquake after all"] : []))
        #expect(last.allSatisfy { $0.priority == .low && !$0.text.contains("Disputed") })
    }

    /// A station's own alarm is its own: it stays urgent, and says what its network event is.
    @Test func aStationsAlarmStaysUrgent() throws {
        for isDisputedFirst in [false, true] {
            var notifier = Self.notifier(try Self.recipient { ($0.alarm, $0.magnitude) = (true, 3) })
            var sent: [Notice] = []
            if isDisputedFirst { sent += notifier.take(Self.quake(1, .loneOperator), now: Self.noon) }
            sent += notifier.take(Self.shaking("a", 6, alarm: true), now: Self.noon)
            if !isDisputedFirst { sent += notifier.take(Self.quake(1, .loneOperator), now: Self.noon) }
            #expect(sent.map(\.title) == ["Alarm: probably an earthquake, intensity VI"])
            #expect(sent.map(\.priority) == [.urgent])
            #expect(sent.allSatisfy { $0.text.contains(Self.lone) == isDisputedFirst })
        }
        // Of an alarm elsewhere it says nothing.
        var notifier = Self.notifier(try Self.recipient { ($0.alarm, $0.magnitude) = (true, 3) })
        #expect(notifier.take(Self.quake(1, .loneOperator), now: Self.noon).isEmpty)
        let other = notifier.take(Self.shaking("z", 6, alarm: true), now: Self.noon)
        #expect(other.count == 1 && other.allSatisfy { !$0.text.contains("Disputed") })
    }

    /// Whoever invents earthquakes takes neither the place of a real one of the same minute nor the messages of the hour.
    @Test func whatIsInventedTakesNobodysPlace() throws {
        var notifier = Self.notifier(try Self.recipient(updates: true) { $0.magnitude = 3 })
        let invented = ["x", "y", "z", "w"]
        #expect(notifier.take(Self.quake(1, nil), now: Self.noon).count == 1)
        for version in 1..<4 {
            let time = Self.noon + Int64(version) * 15 * Self.second
            let other = Self.quake(version, .loneOperator, id: "net-x", stations: invented)
            #expect(
                notifier.take(other, now: time).isEmpty && notifier.tick(now: time + Self.second, stations: nil).isEmpty
            )
        }
        // The other way round, the real one is told.
        notifier = Self.notifier(try Self.recipient { $0.magnitude = 3 })
        #expect(notifier.take(Self.quake(1, .loneOperator, id: "net-x", stations: invented), now: Self.noon).isEmpty)
        let real = notifier.take(Self.quake(1, nil, at: Self.noon + Self.second), now: Self.noon + Self.second)
        #expect(real.map(\.priority) == [.urgent])
        // Ten that are invented leave room for one of the network.
        notifier = Self.notifier(try Self.recipient(hourly: 3) { ($0.magnitude, $0.disputed) = (3, true) })
        let told = (0..<10).flatMap { i in
            let time = Self.noon + Int64(i) * 100 * Self.second
            return notifier.take(Self.quake(1, .loneOperator, id: "net-x\(i)", at: time, stations: invented), now: time)
        }
        let later = Self.noon + 1200 * Self.second
        #expect(told.count == 3 && notifier.take(Self.quake(1, nil, at: later, magnitude: 3.5), now: later).count == 1)
    }
}
