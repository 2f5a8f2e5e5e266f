import Messages
import Propagation
import Settings
import TestSupport
import Testing
import Values

@testable import Warning

@Suite struct NetworkWarningTests {
    private static let second: Int64 = 1_000_000_000
    /// The time of origin of all events here, ns of UTC.
    private static let origin: Int64 = 1_800_000_000 * second
    private static let topic = "seismote/network/event"
    private static let options = NetworkWarning.Options(
        topic: topic, latitude: 35, longitude: -117, intensity: 5, stations: 5)

    /// So many seconds after the origin; the monotonic clock has another beginning.
    private static func at(_ seconds: Double, isSynchronized: Bool = true) -> NetworkWarning.Moment {
        let time = Int64(seconds * 1e9)
        return .init(wall: origin + time, monotonic: 77 * second + time, isSynchronized: isSynchronized)
    }

    /// An event of magnitude 6.5, north of the station.
    private static func message(
        _ version: Int = 1, id: String = "net-a", made: Double = 4, km: Double = 30, magnitude: Double? = 6.5,
        stations: Int = 6, quality: String = "good", more: [Value.Member] = []
    ) -> Value {
        let place = Place(offset: SIMD2(0, km), from: Place(latitude: 35, longitude: -117))
        func text(_ seconds: Double) -> Value {
            .string(Timestamp(nanoseconds: origin + Int64(seconds * 1e9)).description)
        }
        let size: Value = magnitude.map { ["value": .double($0), "sigma": 0.3, "relation": "cua2009"] } ?? .null
        var members: [Value.Member] = [
            .init("t", text(made)), .init("event_type", version == 1 ? "onset" : "update"),
            .init("event_id", .string(id)), .init("version", .int(Int64(version))), .init("origin_time", text(0)),
            .init("latitude", .double(place.latitude)), .init("longitude", .double(place.longitude)),
            .init("depth_km", 10), .init("ellipse", ["semi_major_km": 2, "semi_minor_km": 1, "azimuth_deg": 0]),
            .init("place", ["quality": .string(quality)]), .init("magnitude", size),
            .init("stations", .array((0..<stations).map { ["id": .string("s\($0)")] })),
            .init("class", ["likely": "earthquake"]),
        ]
        for one in more {
            members.removeAll { $0.key == one.key }
            members.append(one)
        }
        return .object(members)
    }

    private static func take(
        _ warning: inout NetworkWarning, _ message: Value, _ now: NetworkWarning.Moment
    ) -> (messages: [WarningMessage], refusal: WarningRefusal?) {
        warning.take(topic: topic, isRetained: false, message, at: now)
    }

    @Test func warnsOfTheSWave() throws {
        var warning = NetworkWarning(Self.options)
        let outcome = Self.take(&warning, Self.message(), Self.at(4.2))
        let said = try #require(outcome.messages.first)
        let travel = TravelTimes.seconds(.s, distance: 30, depth: 10)
        #expect(outcome.refusal == nil && outcome.messages.count == 1)
        #expect((said.state, said.alarm) == (.coming, true))
        #expect((said.networkEvent, said.version, said.magnitude) == ("net-a", 1, 6.5))
        #expect(abs(Double(try #require(said.arrival) - Self.origin) / 1e9 - travel) < 0.01)
        #expect(abs(said.seconds - (travel - 4.2)) < 0.06)
        #expect(abs(said.distance - 30) < 0.1)
        #expect(abs(said.intensity - IntensityPrediction.intensity(magnitude: 6.5, distance: 31.62)) < 0.06)
        #expect(said.range.lowerBound < said.intensity - 0.5 && said.range.upperBound > said.intensity + 0.5)
        #expect(said.issued == Self.at(4.2).wall)
        // Until S has been here for 10 s, by the monotonic clock.
        let line = try #require(warning.line)
        #expect(abs(Double(line.until - Self.at(0).monotonic) / 1e9 - travel - 10) < 0.01)
        #expect(warning.due == line.until)
        #expect((warning.issued, warning.alarms) == (1, 1))
    }

    @Test func endsWhenItHasPassed() throws {
        var warning = NetworkWarning(Self.options)
        _ = Self.take(&warning, Self.message(), Self.at(4.2))
        let until = try #require(warning.due)
        var moment = Self.at(0)
        moment.monotonic = until - 1
        // A step of the wall clock changes nothing.
        moment.wall += 3600 * Self.second
        #expect(warning.advance(moment).isEmpty && warning.line != nil)
        moment.monotonic = until
        moment.wall = Self.origin + 19 * Self.second
        let over = warning.advance(moment)
        #expect(over.map(\.state) == [.passed] && over.first?.alarm == false)
        #expect(warning.line == nil && warning.due == nil)
        #expect(warning.advance(moment).isEmpty)
    }

    @Test func sameEndInWhateverStepsTimeGoes() {
        // The same messages, with the clock looked at often, seldom, and never between them.
        func run(step: Double?) -> [WarningMessage] {
            var warning = NetworkWarning(Self.options)
            var said: [WarningMessage] = []
            var last = 0.0
            for (time, message) in [
                (4.0, Self.message(made: 4)), (5.0, Self.message(2, made: 5, magnitude: 6.8)),
                (9.0, Self.message(id: "net-b", made: 9, km: 60, magnitude: 7)),
            ] {
                if let step { for t in stride(from: last, to: time, by: step) { said += warning.advance(Self.at(t)) } }
                last = time
                said += Self.take(&warning, message, Self.at(time)).messages
            }
            while let due = warning.due {
                var moment = Self.at(0)
                (moment.wall, moment.monotonic) = (moment.wall + due - moment.monotonic, due)
                said += warning.advance(moment)
            }
            return said
        }
        let often = run(step: 0.01)
        #expect(often.map(\.state) == [.coming, .coming, .coming, .passed, .passed])
        #expect(often == run(step: 1.7) && often == run(step: nil))
    }

    @Test func updatesRaiseLowerAndCancel() {
        var warning = NetworkWarning(Self.options)
        #expect(Self.take(&warning, Self.message(magnitude: 5), Self.at(4)).messages.map(\.alarm) == [false])
        #expect(warning.line == nil && warning.due != nil)
        #expect(Self.take(&warning, Self.message(2, made: 5), Self.at(5)).messages.map(\.alarm) == [true])
        #expect(warning.line?.number == 1)
        // Slightly less: it goes on.
        let less = Self.take(&warning, Self.message(3, made: 6, magnitude: 5.5), Self.at(6)).messages
        #expect(less.map(\.alarm) == [true] && less.allSatisfy { $0.intensity < 5 })
        let lower = Self.take(&warning, Self.message(4, made: 7, magnitude: 5), Self.at(7)).messages
        #expect(lower.map(\.alarm) == [false])
        #expect(warning.line == nil)
        // Too little for people to feel.
        let none = Self.take(&warning, Self.message(5, made: 8, magnitude: 2), Self.at(8)).messages
        #expect(none.map(\.state) == [.cancelled] && none.map(\.version) == [5])
        #expect(warning.due == nil)
        #expect((warning.issued, warning.alarms) == (1, 1))
    }

    @Test func whatIsNotKnownWellAsksForNoAlarm() throws {
        // The same intensity in the middle; a magnitude that may be anything, or a place.
        let vague: [[Value.Member]] = [
            [.init("magnitude", ["value": 5.8, "sigma": 1.5, "relation": "cua2009"])],
            [.init("ellipse", ["semi_major_km": 25, "semi_minor_km": 25, "azimuth_deg": 0])],
        ]
        for more in vague {
            var warning = NetworkWarning(Self.options)
            let said = try #require(
                Self.take(&warning, Self.message(magnitude: 5.8, more: more), Self.at(4)).messages.first)
            #expect(said.intensity >= 5 && said.range.lowerBound < 4)
            #expect(!said.alarm && warning.line == nil)
            // Once it is known better, it does.
            #expect(
                Self.take(&warning, Self.message(2, made: 5, magnitude: 5.8), Self.at(5)).messages.map(\.alarm) == [
                    true
                ])
            // And goes on when the next version is as vague.
            let next = Self.take(&warning, Self.message(3, made: 6, magnitude: 5.8, more: more), Self.at(6)).messages
            #expect(next.map(\.alarm) == [true])
        }
    }

    @Test(arguments: ["withdrawn", "merged_into", "disputed"])
    func isCancelledByTheNetwork(reason: String) {
        var warning = NetworkWarning(Self.options)
        _ = Self.take(&warning, Self.message(), Self.at(4))
        let end = Self.message(
            2, made: 5, more: [.init(reason, reason == "merged_into" ? "net-c" : true)])
        let said = Self.take(&warning, end, Self.at(5))
        #expect(said.messages.map(\.state) == [.cancelled] && said.messages.first?.alarm == false)
        #expect(warning.line == nil && warning.due == nil)
        // Of one that was not warned of, nothing is said.
        var other = NetworkWarning(Self.options)
        #expect(Self.take(&other, end, Self.at(5)).messages.isEmpty)
    }

    @Test func whatIsNotBelievedChangesNothing() {
        var warning = NetworkWarning(Self.options)
        func refusal(_ message: Value?, topic: String = Self.topic, retained: Bool = false, at: Double = 4.2)
            -> WarningRefusal?
        {
            let outcome = warning.take(topic: topic, isRetained: retained, message, at: Self.at(at))
            #expect(outcome.messages.isEmpty)
            return outcome.refusal
        }
        #expect(refusal(Self.message(), topic: "seismote/network/event/last") == .topic)
        #expect(refusal(Self.message(), topic: "seismote/evil/event/trigger") == .topic)
        #expect(refusal(Self.message(), topic: "other/network/event") == .topic)
        #expect(refusal(Self.message(), retained: true) == .retained)
        #expect(refusal(nil) == .unreadable)
        #expect(refusal(Self.message(made: 6.3)) == .clock)
        #expect(refusal(Self.message(km: 200), at: 34.1) == .old)
        #expect(refusal(Self.message(id: "net-p", quality: "poor")) == .place)
        #expect(refusal(Self.message(id: "net-p", quality: "outside")) == .place)
        #expect(refusal(Self.message(id: "net-p", stations: 4)) == .stations)
        #expect(refusal(Self.message(id: "net-p", magnitude: nil)) == .magnitude)
        #expect(refusal(Self.message(id: "net-p", more: [.init("disputed", true)])) == .disputed)
        #expect(refusal(Self.message(id: "net-p", more: [.init("class", ["likely": "disturbance"])])) == .class)
        #expect(refusal(Self.message(id: "net-p", km: 501, magnitude: 8)) == .distance)
        #expect(refusal(Self.message(id: "net-p", made: 19.5), at: 19.6) == .passed)
        // One station that is named six times is one.
        let sixfold = Value.array((0..<6).map { _ in ["id": "s"] })
        #expect(refusal(Self.message(id: "net-p", more: [.init("stations", sixfold)])) == .stations)
        #expect(warning.refused.first { $0.name == "topic" }?.count == 3)
        #expect(warning.refused.first { $0.name == "stations" }?.count == 2)
        #expect(warning.line == nil)
    }

    /// Messages that newer ones have pushed out are counted with those that were refused.
    @Test func whatNobodyCouldLookAtIsCounted() {
        var warning = NetworkWarning(Self.options)
        warning.drop(3)
        warning.drop(2)
        #expect(warning.refused.map(\.name) == ["crowded"] && warning.refused.first?.count == 5)
        #expect(warning.with(Self.options).refused.first?.count == 5)
    }

    @Test func anOldVersionOrADoubleIsNothing() {
        var warning = NetworkWarning(Self.options)
        _ = Self.take(&warning, Self.message(3), Self.at(4))
        let line = warning.line
        for version in [1, 2, 3] {
            let again = Self.take(&warning, Self.message(version, magnitude: 2), Self.at(4.5))
            #expect(again.messages.isEmpty && again.refusal == nil)
        }
        #expect(warning.line == line && warning.refused.isEmpty)
    }

    @Test func aDoubtfulUpdateKeepsWhatWasSaid() {
        var warning = NetworkWarning(Self.options)
        _ = Self.take(&warning, Self.message(), Self.at(4))
        let line = warning.line
        #expect(Self.take(&warning, Self.message(2, quality: "ambiguous"), Self.at(5)).refusal == .place)
        #expect(line != nil && warning.line == line)
    }

    @Test func withoutAClockItIsNow() throws {
        var warning = NetworkWarning(Self.options)
        // Two hours off.
        var moment = Self.at(7200, isSynchronized: false)
        let said = try #require(Self.take(&warning, Self.message(made: 4), moment).messages.first)
        #expect(said.alarm && said.arrival == nil && said.seconds == 0)
        // As long as the detector's own clock lets expect.
        let left = TravelTimes.seconds(.s, distance: 30, depth: 10) - 4 + 10
        #expect(abs(Double(try #require(warning.line).until - moment.monotonic) / 1e9 - left) < 0.01)
        moment.monotonic += 20 * Self.second
        #expect(warning.advance(moment).map(\.state) == [.passed])
        // However far it is, a minute at most.
        let far = Self.message(id: "net-far", made: 4, km: 400, magnitude: 9)
        _ = Self.take(&warning, far, moment)
        #expect(warning.due == moment.monotonic + 70 * Self.second)
    }

    @Test func eachEventThatAsksForTheLineHasANumber() {
        var warning = NetworkWarning(Self.options)
        _ = Self.take(&warning, Self.message(), Self.at(4))
        #expect(warning.line?.number == 1)
        _ = Self.take(&warning, Self.message(2, made: 5, magnitude: 6.6), Self.at(5))
        #expect(warning.line?.number == 1)
        let first = warning.line
        _ = Self.take(&warning, Self.message(id: "net-b", made: 5, km: 80, magnitude: 7.9), Self.at(5))
        #expect(warning.line?.number == 2)
        // Both are to pass.
        #expect((warning.line?.until ?? 0) > (first?.until ?? 0))
        #expect(warning.advance(Self.at(22)).count == 1 && warning.line?.number == 2)
    }

    @Test func boundsWhatItFollows() {
        var warning = NetworkWarning(Self.options)
        var refused = 0
        for k in 0..<40 {
            if Self.take(&warning, Self.message(id: "net-\(k)"), Self.at(4)).refusal == .many { refused += 1 }
        }
        #expect(refused == 40 - NetworkWarning.most)
        #expect(warning.end(Self.at(5)).count == NetworkWarning.most)
        #expect(warning.line == nil)
    }

    @Test func otherSettingsKeepWhatIsOnItsWay() {
        var warning = NetworkWarning(Self.options)
        _ = Self.take(&warning, Self.message(), Self.at(4))
        var other = Self.options
        other.intensity = 9
        warning = warning.with(other)
        #expect(warning.line != nil && warning.issued == 1)
        #expect(Self.take(&warning, Self.message(2, made: 5), Self.at(5)).messages.map(\.alarm) == [false])
    }

    /// Nothing that can be said makes it fail, or warns of what is not whole.
    @Test func hostilePayloads() throws {
        let good = Self.message()
        guard case .object(let members) = good else { return }
        let odd: [Value] = [
            .null, .bool(true), .int(.max), .int(.min), .int(-1), .double(1e308), .double(-1e308), .double(.nan),
            .double(.infinity), .string(""), .string("1e999"), .string("2262-04-11T23:47:16.854775807Z"),
            .string("1677-09-21T00:12:43.145224193Z"), .string("net-\u{0}"), .array([]), .array([.null, good]),
            .object([]), .object([.init("id", .array([]))]), .object([.init("value", .double(-40))]),
        ]
        for isSynchronized in [true, false] {
            for member in members {
                for value in odd {
                    var warning = NetworkWarning(Self.options)
                    let hostile = Value.object(members.map { $0.key == member.key ? .init($0.key, value) : $0 })
                    let outcome = Self.take(&warning, hostile, Self.at(4.2, isSynchronized: isSynchronized))
                    for one in outcome.messages {
                        #expect(one.intensity >= 1 && one.intensity <= 10 && one.distance.isFinite)
                        #expect(one.seconds.isFinite && abs(one.seconds) < 400)
                    }
                    if let due = warning.due { #expect(due < Self.at(400).monotonic) }
                    _ = warning.advance(Self.at(1e6))
                }
            }
            // What is missing altogether.
            for member in members where !["event_type", "class", "magnitude"].contains(member.key) {
                var warning = NetworkWarning(Self.options)
                let part = Value.object(members.filter { $0.key != member.key })
                #expect(Self.take(&warning, part, Self.at(4.2)).refusal == .unreadable, "without \(member.key)")
            }
        }
        // Bytes that came so, cut and changed anywhere.
        let bytes = good.json()
        var random = SplitMix64(state: 27)
        for _ in 0..<3000 {
            var other = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                other[Int.random(in: 0..<other.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { other.removeLast(Int.random(in: 0..<other.count, using: &random)) }
            var warning = NetworkWarning(Self.options)
            _ = warning.take(topic: Self.topic, isRetained: false, try? JSONReader.read(other), at: Self.at(4.2))
        }
    }

    /// 10 000 messages that somebody has made to break it, and what the fuzzers have kept.
    @Test func hostileMessages() throws {
        var warned = 0
        for bytes in Array(HostileMessages([Self.message()], count: 10_000, seed: 5)) + (try HostileMessages.corpora())
        {
            var warning = NetworkWarning(Self.options)
            let outcome = warning.take(
                topic: Self.topic, isRetained: false, try? JSONReader.read(bytes), at: Self.at(4.2))
            for message in outcome.messages {
                warned += 1
                #expect((1...10).contains(message.range.lowerBound) && message.range.upperBound <= 10)
                #expect((-5...9.5).contains(message.magnitude) && message.distance <= 1000)
                #expect(message.networkEvent.hasPrefix("net-") && (-10...400).contains(message.seconds))
            }
        }
        #expect(warned > 500, "\(warned)")
    }
}
