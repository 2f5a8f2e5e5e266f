import Messages
import Settings
import TestSupport
import Testing

@testable import Commands

/// What is read out of the bytes of a command. The exact replies, over a real broker, are in deploy/checks/commands.
@Suite struct CommandDecoderTests {
    private static let topics: Topics = {
        guard let topics = try? Topics(id: "board") else { fatalError("no topics") }
        return topics
    }()

    /// A moment of a station, 100 s after 1970.
    static var context: CommandContext {
        CommandContext(
            revision: 3, boot: "b", uptime: 1.23456, wall: 100_000_000_000, topics: topics, rate: 100,
            takesConfirmations: true, alerts: [AlertMessage(code: "a", severity: .info, since: 0, message: "m")],
            clock: { (TimeQuality(synced: true, source: .ntp, errorMs: 1.5), -2_500_000) }, status: { ["rev": 3] })
    }

    struct Good: Sendable, CustomTestStringConvertible {
        var verb: String
        var payload: String
        var decision: CommandDecision
        var testDescription: String { "\(verb) \(payload)" }
        init(_ verb: String, _ payload: String, _ effect: CommandEffect) {
            self.init(verb, payload, .effect(effect))
        }
        init(_ verb: String, _ payload: String, _ decision: CommandDecision) {
            (self.verb, self.payload, self.decision) = (verb, payload, decision)
        }
    }

    static let pong = CommandDecision.reply(["version": .string(productVersion), "boot": "b", "uptime_s": 1.235])
    static func change(_ kind: SettingsLedger.Change, _ more: (inout ConfigChange) -> Void = { _ in }) -> CommandEffect
    {
        var change = ConfigChange(kind, CommandMembers())
        more(&change)
        return .settings(.change(change))
    }

    static let good: [Good] = [
        Good("ping", "", pong), Good("ping", "{}", pong), Good("ping", " {\"source\":\"me\"}\n", pong),
        Good(
            "time", "",
            .reply([
                "t": "1970-01-01T00:01:40.000000000Z", "synced": true, "source": "ntp", "error_ms": 1.5,
                "offset_ms": -2.5,
            ])),
        Good("status", "{\"id\":\"a\"}", .reply(["rev": 3])),
        Good("alerts", "", .reply(["alerts": .array(context.alerts.map(\.value))])),
        Good("config-reset", "{}", change(.reset)),
        Good("config-rollback", "{}", change(.rollback(to: nil))),
        Good("config-rollback", "{\"to_rev\":3}", change(.rollback(to: 3))),
        Good(
            "config", "{\"set\":{},\"if_rev\":2.0,\"dry_run\":true,\"confirm_s\":60}",
            change(.merge(.object([]))) { ($0.ifRevision, $0.isDryRun, $0.confirm) = (2, true, 60) }),
        Good("config-confirm", "{\"rev\":4}", .settings(.confirm(revision: 4))),
        Good("config-get", "", .settings(.show)),
        Good(
            "snapshot", "{\"id\":\"s\",\"last_s\":60}",
            .storage(
                .snapshot(
                    from: 40_000_000_000, to: 100_000_000_000, topic: "seismote/board/data/history/waveform/s"))),
        Good(
            "snapshot", "{\"id\":\"s\",\"from\":\"1970-01-01T00:00:01Z\",\"to\":\"1970-01-01T01:00:02+01:00\"}",
            .storage(
                .snapshot(from: 1_000_000_000, to: 2_000_000_000, topic: "seismote/board/data/history/waveform/s"))),
        Good("calibrate", "{}", .sampling(.calibrate(seconds: 20))),
        Good("calibrate", "{\"duration_s\":1}", .sampling(.calibrate(seconds: 1))),
        Good("log", "{}", .main(.log(.info, seconds: 60))),
        Good("log", "{\"level\":\"debug\",\"duration_s\":0}", .main(.log(.debug, seconds: 0))),
        Good("log-tail", "", .main(.logTail(100, .debug))),
        Good("log-tail", "{\"lines\":7,\"level\":\"error\"}", .main(.logTail(7, .error))),
        Good("stream", "{\"id\":\"s\",\"duration_s\":0,\"rate_hz\":50}", .sampling(.endStream)),
        Good("rebirth", "", .main(.rebirth)), Good("restart", "", .main(.restart)),
        Good("selftest", "", .sampling(.selfTest)),
        Good("test-event", "", .sampling(.testEvent)), Good("reset-extremes", "", .sampling(.resetExtremes)),
    ]

    /// What neighbours say goes to both threads that have the event, unless the station's events are not to be marked.
    @Test func aConfirmationIsForBothThatHaveTheEvent() throws {
        let payload = "{\"event_id\":\"a-1\",\"network_event\":\"net-1\"}"
        let request = try #require(CommandDecoder.decode(verb: "confirm-event", payload: Array(payload.utf8)).request)
        let confirmation = EventConfirmation(eventID: "a-1", networkEvent: "net-1", isConfirmed: true)
        #expect(request.decision(Self.context) == .effect(.both(.confirm(confirmation), .confirm(confirmation))))
        var context = Self.context
        context.takesConfirmations = false
        guard case .refuse(let errors) = request.decision(context) else { throw TestFailure("taken") }
        #expect(errors.map(\.code) == [.unavailable] && errors[0].message.contains("detection.event.confirmation"))
    }

    @Test(arguments: good) func isRead(_ one: Good) throws {
        let decoded = CommandDecoder.decode(verb: one.verb, payload: Array(one.payload.utf8))
        #expect(decoded.errors == [])
        #expect(decoded.request?.decision(Self.context) == one.decision)
    }

    /// The members of a stream are those of `trace`, and are judged as these, at the rate of the sensor that is there.
    @Test func aStreamIsJudgedAtTheSensorsRate() throws {
        func decision(_ members: String) throws -> CommandDecision {
            let payload = "{\"id\":\"s\",\"duration_s\":5\(members)}"
            let decoded = CommandDecoder.decode(verb: "stream", payload: Array(payload.utf8))
            return try #require(decoded.request).decision(Self.context)
        }
        guard case .effect(.sampling(.stream(let traces, seconds: 5))) = try decision("") else {
            throw TestFailure("no stream")
        }
        #expect(traces.rate == 100 && traces.enabled && !traces.onlyInEvents)
        guard case .effect(.sampling(.stream(let slower, seconds: 5))) = try decision(",\"rate_hz\":50") else {
            throw TestFailure("no stream")
        }
        #expect(slower.rate == 50)
        guard case .refuse(let errors) = try decision(",\"rate_hz\":-1,\"filter\":\"no\"") else {
            throw TestFailure("taken")
        }
        #expect(errors.map(\.path) == ["/rate_hz", "/filter"])
        // In the order in which they were written.
        guard case .refuse(let others) = try decision(",\"filter\":\"no\",\"rate_hz\":-1") else {
            throw TestFailure("taken")
        }
        #expect(others.map(\.path) == ["/filter", "/rate_hz"])
    }

    @Test(arguments: [
        ("ping", "{", ": syntax"), ("ping", "nonsense", ": syntax"), ("ping", "[]", ": type"),
        ("ping", "null", ": type"),
        ("ping", "{\"id\":1}", "/id: type"), ("ping", "{\"id\":\"a/b\"}", "/id: range"),
        ("ping", "{\"a\":1,\"a\":2}", ": syntax"), ("ping", "{\"expires\":\"soon\"}", "/expires: type"),
        ("ping", "{\"expires\":5}", "/expires: type"), ("pong", "{\"id\":7}", ": unknown_key, /id: type"),
        ("ping", "{\"sources\":1,\"idd\":2}", "/sources: unknown_key, /idd: unknown_key"),
        ("config", "{}", "/set: type"), ("config", "{\"set\":[]}", "/set: type"),
        ("config", "{\"set\":{},\"confirm_s\":0}", "/confirm_s: range"),
        ("config", "{\"set\":{},\"confirm_s\":1e300}", "/confirm_s: range"),
        ("config", "{\"set\":{},\"if_rev\":-1}", "/if_rev: range"),
        ("config", "{\"set\":{},\"if_rev\":1.5}", "/if_rev: range"),
        ("config", "{\"set\":{},\"if_rev\":99999999999999999999}", ": syntax"),
        ("config", "{\"dry_run\":1,\"if_rev\":\"x\"}", "/set: type, /if_rev: type, /dry_run: type"),
        ("snapshot", "{}", "/id: type, : cross_field"),
        ("snapshot", "{\"id\":\"a\",\"last_s\":1,\"to\":\"2026-01-05T10:20:30Z\"}", "/last_s: cross_field"),
        (
            "snapshot", "{\"id\":\"a\",\"from\":\"2026-01-05T10:20:30Z\",\"to\":\"2026-01-05T10:20:30Z\"}",
            "/to: cross_field"
        ),
        (
            "snapshot", "{\"id\":\"a\",\"from\":\"1677-09-22T00:00:00Z\",\"to\":\"2262-04-11T00:00:00Z\"}",
            "/to: cross_field"
        ),
        ("stream", "{\"id\":\"a\"}", "/duration_s: type"),
        ("stream", "{\"id\":\"a\",\"duration_s\":1e9}", "/duration_s: range"),
        ("log", "{\"level\":\"inf\"}", "/level: range"), ("", "{}", ": unknown_key"),
        ("config/extra", "{}", ": unknown_key"),
    ])
    func isRefusedWithAllErrors(_ verb: String, _ payload: String, _ wanted: String) {
        let decoded = CommandDecoder.decode(verb: verb, payload: Array(payload.utf8))
        #expect(decoded.request == nil)
        #expect(decoded.errors.map { "\($0.path): \($0.code.rawValue)" }.joined(separator: ", ") == wanted)
    }

    @Test func theIDOfABadCommandIsKnown() {
        #expect(CommandDecoder.decode(verb: "config", payload: Array("{\"id\":\"a\",\"set\":5}".utf8)).id == "a")
    }

    @Test func theDigestIsThatOfWhatIsAskedFor() {
        func digest(_ verb: String, _ text: String) -> String? {
            CommandDecoder.decode(verb: verb, payload: Array(text.utf8)).request?.digest
        }
        let one = digest("config", "{\"id\":\"a\",\"set\":{\"x\":1,\"y\":2}}")
        #expect(one != nil)
        #expect(digest("config", "{\"set\":{\"y\":2,\"x\":1},\"id\":\"b\",\"source\":\"me\"}") == one)
        #expect(digest("config", "{\"set\":{\"y\":2,\"x\":3}}") != one)
        #expect(digest("ping", "") == digest("ping", "{}"))
        #expect(digest("ping", "") != digest("status", ""))
    }

    @Test func deepAndLargeIsRefused() {
        let deep = String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000)
        for text in ["{\"set\":\(deep)}", String(repeating: "a", count: 1 << 20)] {
            let decoded = CommandDecoder.decode(verb: "config", payload: Array(text.utf8))
            #expect(decoded.errors.map(\.code) == [.syntax])
        }
        #expect(CommandDecoder.decode(verb: "ping", payload: [0xff, 0xfe, 0]).errors.map(\.code) == [.syntax])
    }
}
