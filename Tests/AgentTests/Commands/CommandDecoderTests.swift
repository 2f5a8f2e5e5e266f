import Messages
import Testing

@testable import Agent

/// What is read out of the bytes of a command. The exact replies, over a real broker, are in deploy/checks/commands.
@Suite struct CommandDecoderTests {
    struct Good: Sendable, CustomTestStringConvertible {
        var verb: String
        var payload: String
        var action: CommandRequest.Action
        var testDescription: String { "\(verb) \(payload)" }
    }

    static let good: [Good] = [
        Good(verb: "ping", payload: "", action: .ping),
        Good(verb: "ping", payload: "{}", action: .ping),
        Good(verb: "ping", payload: " {\"source\":\"me\"}\n", action: .ping),
        Good(verb: "status", payload: "{\"id\":\"a\"}", action: .status),
        Good(verb: "config-reset", payload: "{}", action: .change(.init(kind: .reset))),
        Good(verb: "config-rollback", payload: "{}", action: .change(.init(kind: .rollback(to: nil)))),
        Good(verb: "config-rollback", payload: "{\"to_rev\":3}", action: .change(.init(kind: .rollback(to: 3)))),
        Good(
            verb: "config", payload: "{\"set\":{},\"if_rev\":2.0,\"dry_run\":true,\"confirm_s\":60}",
            action: .change(.init(kind: .merge(.object([])), ifRevision: 2, isDryRun: true, confirm: 60))),
        Good(verb: "config-confirm", payload: "{\"rev\":4}", action: .confirm(revision: 4)),
        Good(verb: "config-get", payload: "", action: .configGet),
        Good(verb: "snapshot", payload: "{\"id\":\"s\",\"last_s\":60}", action: .snapshot(.last(60))),
        Good(
            verb: "snapshot",
            payload: "{\"id\":\"s\",\"from\":\"1970-01-01T00:00:01Z\",\"to\":\"1970-01-01T01:00:02+01:00\"}",
            action: .snapshot(.between(1_000_000_000, 2_000_000_000))),
        Good(verb: "calibrate", payload: "{}", action: .calibrate(seconds: 20)),
        Good(verb: "log", payload: "{}", action: .log(.info, seconds: 60)),
        Good(verb: "log", payload: "{\"level\":\"debug\",\"duration_s\":0}", action: .log(.debug, seconds: 0)),
        Good(
            verb: "stream", payload: "{\"id\":\"s\",\"duration_s\":5,\"rate_hz\":50}",
            action: .stream(["rate_hz": 50], seconds: 5)),
    ]

    @Test(arguments: good) func isRead(_ one: Good) throws {
        let decoded = CommandDecoder.decode(verb: one.verb, payload: Array(one.payload.utf8))
        #expect(decoded.errors == [])
        #expect(decoded.request?.action == one.action)
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
