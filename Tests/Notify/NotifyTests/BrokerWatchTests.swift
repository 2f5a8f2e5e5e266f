import Foundation
import Messages
import TestSupport
import Testing
import Values

@testable import seismote_notify

/// From messages of a broker, good and bad, to what is worth a message.
@Suite struct BrokerWatchTests {
    private static let minute: Int64 = 60_000_000_000
    /// A minute after the stored messages.
    private static let now = (Timestamp("2026-01-05T10:21:30Z")?.nanoseconds ?? 0)

    private static func message(_ topic: String, _ payload: [UInt8]) -> InboundMessage {
        InboundMessage(topic: "seismote/\(topic)", payload: payload)
    }

    /// With a connection to the broker.
    private static func watch(_ said: [String] = []) -> BrokerWatch {
        var watch = BrokerWatch(root: "seismote", said: said, broker: now)
        _ = watch.connection(true, now: now)
        return watch
    }

    private static func text(_ topic: String, _ text: String) -> InboundMessage { message(topic, Array(text.utf8)) }

    private static func stored(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Vectors.folder.appendingPathComponent("messages/\(name)")))
    }

    /// The messages as stations publish them.
    @Test func storedMessages() throws {
        var watch = Self.watch()
        let topic = "basement-north/event/trigger"
        guard case .shaking(let end) = watch.take(Self.message(topic, try Self.stored("event-end.json")), now: Self.now)
        else {
            Issue.record("no event")
            return
        }
        #expect(end.station == "basement-north" && end.intensity == 3.2 && end.likely == "earthquake")
        #expect(end.alarm && end.isTest && end.probability == 0.9375)
        let alert = watch.take(
            Self.message("basement-north/state/alert/sensor_missing", try Self.stored("alert.json")), now: Self.now)
        #expect(
            alert
                == .alert(
                    station: "basement-north", code: "sensor_missing",
                    since: Timestamp("2026-01-05T10:20:30.12Z")?.nanoseconds ?? 0, severity: .error,
                    message: "No accelerometer at bus 1, address 0x53"))
        #expect(
            watch.take(Self.text("basement-north/state/alert/sensor_missing", ""), now: Self.now)
                == .alertOver(station: "basement-north", code: "sensor_missing"))
        #expect(watch.unreadable == 0)
        // An hour later the event is history.
        #expect(
            watch.take(Self.message(topic, try Self.stored("event-end.json")), now: Self.now + 61 * Self.minute) == nil)
        #expect(watch.late == 1)
    }

    /// Said after ten minutes, once, and taken back; a short absence is nothing.
    @Test func stationsThatAreOffline() {
        var watch = Self.watch(["known"])
        #expect(watch.take(Self.text("a/state/online", "offline"), now: Self.now) == nil)
        #expect(watch.take(Self.text("b/state/online", "offline"), now: Self.now) == nil)
        #expect(watch.take(Self.text("known/state/online", "offline"), now: Self.now) == nil)
        #expect(watch.tick(now: Self.now + 10 * Self.minute - 1).isEmpty)
        #expect(watch.take(Self.text("b/state/online", "online"), now: Self.now) == nil)
        // It is said again by the broker after a new connection, and the time runs on.
        #expect(watch.take(Self.text("a/state/online", "offline"), now: Self.now + 5 * Self.minute) == nil)
        #expect(watch.tick(now: Self.now + 10 * Self.minute) == [.offline(station: "a", since: Self.now)])
        #expect(watch.tick(now: Self.now + 20 * Self.minute).isEmpty)
        #expect(watch.take(Self.text("a/state/online", "online"), now: Self.now) == .online(station: "a"))
        #expect(watch.take(Self.text("known/state/online", "online"), now: Self.now) == .online(station: "known"))
    }

    /// While the broker is away nothing is known of stations: it is said of the broker, once, and no station is offline for it.
    @Test func brokersThatAreAway() {
        var watch = BrokerWatch(root: "seismote", said: [], broker: Self.now)
        #expect(watch.stations == nil)
        #expect(watch.tick(now: Self.now + 10 * Self.minute - 1).isEmpty)
        #expect(watch.tick(now: Self.now + 10 * Self.minute) == [.brokerAway(since: Self.now)])
        #expect(watch.tick(now: Self.now + 30 * Self.minute).isEmpty)
        #expect(watch.connection(false, now: Self.now + 30 * Self.minute) == nil)
        #expect(watch.connection(true, now: Self.now + 30 * Self.minute) == .brokerBack)
        _ = watch.take(Self.text("a/state/online", "online"), now: Self.now)
        _ = watch.take(Self.text("b/state/online", "offline"), now: Self.now + 30 * Self.minute)
        #expect(watch.stations?.online == 1 && watch.stations?.offline == 1)
        // A short loss is nothing, and the time of a station that is away runs on behind it.
        #expect(watch.connection(false, now: Self.now + 31 * Self.minute) == nil)
        #expect(watch.tick(now: Self.now + 40 * Self.minute).isEmpty)
        #expect(watch.connection(true, now: Self.now + 40 * Self.minute) == nil)
        #expect(
            watch.tick(now: Self.now + 40 * Self.minute) == [.offline(station: "b", since: Self.now + 30 * Self.minute)]
        )
        // One that a run before has said.
        var next = BrokerWatch(root: "seismote", said: [], broker: Self.now, saidBroker: true)
        #expect(next.tick(now: Self.now + 10 * Self.minute).isEmpty)
        #expect(next.connection(true, now: Self.now) == .brokerBack)
    }

    /// Of an event whose velocity is not valid the acceleration decides.
    @Test func shakingThatIsNotCertain() throws {
        func shaking(_ more: String, _ relation: String = "worden12") throws -> Occasion.Shaking {
            let event = """
                {"event_type":"end","event_id":"a-20260105T102020Z","onset":"2026-01-05T10:20:20Z","mmi":7.1,\
                "intensity":[{"scale":"jma","relation":"jma","value":4.5},\
                {"scale":"mmi","relation":"\(relation)","value":7.1,"from_pga":5.2,"from_pgv":7.1}]\(more)}
                """
            var watch = Self.watch()
            guard case .shaking(let one)? = watch.take(Self.text("a/event/trigger", event), now: Self.now) else {
                throw CancellationError()
            }
            return one
        }
        let (whole, torn) = (try shaking(""), try shaking(#","gaps":1,"velocity_valid":false"#))
        #expect(whole.isCertain && whole.intensity == 7.1 && whole.safeIntensity == 7.1)
        #expect(!torn.isCertain && torn.intensity == 7.1 && torn.safeIntensity == 5.2)
        // An acceleration that may be off makes those intensities uncertain that it enters. It decides all the same.
        let rough = #","gaps":1,"acceleration_valid":false"#
        let (off, apart) = (try shaking(rough, "gutenberg_richter"), try shaking(rough))
        #expect(!off.isCertain && off.safeIntensity == 7.1)
        #expect(apart.isCertain && apart.safeIntensity == 7.1)
    }

    /// An earthquake of the network, with what is not well known left out.
    @Test func earthquakesOfANetwork() throws {
        func event(_ quality: String, _ more: String = "") -> String {
            """
            {"event_type":"update","event_id":"net-20260105T102020Z","version":3,"origin_time":"2026-01-05T10:20:20Z",\
            "latitude":46.25,"longitude":7.5,"depth_km":8,"place":{"quality":"\(quality)"},"magnitude":{"value":4.2},\
            "mmi":{"value":4.6,"station":"a"},"stations":[{"id":"a","event_id":"a-1"},{"id":"b","event_id":"b-1"}]\(more)}
            """
        }
        var watch = Self.watch()
        guard case .earthquake(let good, _)? = watch.take(Self.text("network/event", event("good")), now: Self.now),
            case .earthquake(let poor, _)? = watch.take(
                Self.text("network/event", event("poor", ",\"withdrawn\":true")), now: Self.now)
        else {
            Issue.record("no earthquake")
            return
        }
        #expect(good.knownPlace?.latitude == 46.25 && good.knownPlace?.longitude == 7.5 && good.depth == 8)
        #expect(good.magnitude?.value == 4.2 && good.intensity == 4.6 && good.version == 3 && !good.isWithdrawn)
        #expect(good.stations?.map(\.eventID) == ["a-1", "b-1"])
        #expect(poor.knownPlace == nil && poor.isWithdrawn)
        // An id goes into an address: nothing else may be in it.
        let evil = event("good").replacingOccurrences(of: "net-2026", with: "net-&#/2026")
        #expect(watch.take(Self.text("network/event", evil), now: Self.now) == nil)
        #expect(watch.unreadable == 1)
    }

    /// Disputed is what the detector says is, for a reason that is known or not.
    @Test(arguments: [
        ("", nil as NetworkEventReading.Dispute?), (#","disputed":false"#, nil), (#","disputed":true"#, .silence),
        (#","disputed":true,"disputed_because":"silence""#, .silence),
        (#","disputed":true,"disputed_because":"lone_operator""#, .loneOperator),
        (#","disputed":true,"disputed_because":"something_new""#, .other),
    ]) func earthquakesThatAreDisputed(_ more: String, _ dispute: NetworkEventReading.Dispute?) {
        let event = """
            {"event_id":"net-20260105T102020Z","version":3,"origin_time":"2026-01-05T10:20:20Z","stations":[]\(more)}
            """
        var watch = Self.watch()
        guard case .earthquake(let quake, _)? = watch.take(Self.text("network/event", event), now: Self.now) else {
            Issue.record("no earthquake")
            return
        }
        #expect(quake.dispute == dispute)
    }

    /// An event belongs to the station on whose topic it is; a time in the future is not believed.
    @Test func liesAreCounted() throws {
        var watch = Self.watch()
        let event = try Self.stored("event-end.json")
        #expect(watch.take(Self.message("other/event/trigger", event), now: Self.now) == nil)
        #expect(watch.take(Self.message("basement-north/event/trigger", event), now: Self.now - 3 * Self.minute) == nil)
        #expect(watch.take(Self.message("network/event", event), now: Self.now) == nil)
        #expect(watch.take(Self.text("a/state/online", "perhaps"), now: Self.now) == nil)
        #expect(watch.take(Self.text("a/state/alert/UPPER", "{}"), now: Self.now) == nil)
        #expect(watch.unreadable == 5)
    }

    /// Every cut and many spoiled bytes of a real message: no crash, and nothing that is out of its range.
    @Test func spoiledMessages() throws {
        var watch = Self.watch()
        let event = try Self.stored("event-end.json")
        var generator = SplitMix64(state: 7)
        for round in 0..<4000 {
            var bytes = event
            if round < event.count {
                bytes.removeLast(round)
            } else {
                for _ in 0..<3 {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
            }
            guard
                case .shaking(let one)? = watch.take(Self.message("basement-north/event/trigger", bytes), now: Self.now)
            else { continue }
            #expect((1...12).contains(one.intensity ?? 1) && (0...1).contains(one.probability ?? 0))
            #expect(one.onset <= Self.now + Self.minute)
        }
        #expect(watch.unreadable > 1000)
    }

    /// 10 000 messages that somebody has made to break it, and what the fuzzers have kept, on each topic.
    @Test func hostileMessages() throws {
        var watch = Self.watch()
        let good: [Value] = [
            try JSONReader.read(try Self.stored("event-end.json")),
            [
                "event_type": "update", "event_id": "net-20260105T102020Z", "version": 3,
                "origin_time": "2026-01-05T10:20:20Z", "latitude": 46.25, "longitude": 7.5, "depth_km": 8,
                "place": ["quality": "good"], "magnitude": ["value": 4.2, "sigma": 0.25],
                "mmi": ["value": 4.6, "station": "a"], "stations": [["id": "a", "event_id": "a-1"]],
                "withdrawn": false,
            ],
            ["severity": "error", "since": "2026-01-05T10:20:20Z", "message": "The sensor is away"],
        ]
        var (shakings, earthquakes, alerts) = (0, 0, 0)
        for bytes in Array(HostileMessages(good, count: 10_000, seed: 4)) + (try HostileMessages.corpora()) {
            for topic in ["basement-north/event/trigger", "network/event", "a/state/alert/code", "a/state/online"] {
                switch watch.take(Self.message(topic, bytes), now: Self.now) {
                case .shaking(let one):
                    shakings += 1
                    #expect((1...12).contains(one.intensity ?? 1) && (0...1).contains(one.probability ?? 0))
                    #expect((1...12).contains(one.safeIntensity ?? 1) && one.onset <= Self.now + Self.minute)
                    #expect(one.eventID.hasPrefix("basement-north-") && one.eventID.utf8.count <= 128)
                case .earthquake(let one, let origin):
                    earthquakes += 1
                    #expect((-5...9.5).contains(one.magnitude?.value ?? 0) && (0...700).contains(one.depth ?? 0))
                    #expect((1...12).contains(one.intensity ?? 1) && origin <= Self.now + Self.minute)
                    #expect(abs(one.knownPlace?.latitude ?? 0) <= 90 && abs(one.knownPlace?.longitude ?? 0) <= 180)
                    #expect(one.eventID.hasPrefix("net-") && one.eventID.utf8.count <= 64)
                case .alert(_, _, let since, _, let message):
                    alerts += 1
                    #expect(since <= Self.now + Self.minute && message.unicodeScalars.count <= 200)
                    #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
                default: break
                }
            }
        }
        #expect(shakings > 500 && earthquakes > 300 && alerts > 300, "\(shakings) \(earthquakes) \(alerts)")
        #expect(watch.unreadable > 10_000)
    }
}
