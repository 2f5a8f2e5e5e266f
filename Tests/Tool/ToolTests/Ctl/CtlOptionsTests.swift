import Foundation
import TestSupport
import Testing

/// Options that several commands share mean the same, and are checked the same way.
@Suite(.timeLimit(.minutes(10))) struct CtlOptionsTests {
    /// Defects: only `set` checked the time of --confirm, against a day where a station takes an hour; `stream`, `calibrate`
    /// and `snapshot` took times that no station takes; --count 0 was done at once.
    @Test(arguments: [
        ["set", "a", "trace.rate_hz=10", "--confirm", "3601"], ["set", "a", "trace.rate_hz=10", "--confirm", "0.5"],
        ["rollback", "a", "--confirm", "3601"], ["reset", "a", "--confirm", "0"], ["reset", "a", "--leave-pending"],
        ["edit", "a", "--yes", "--confirm", "nan"], ["stream", "a", "--duration", "3601"],
        ["log", "a", "--duration", "86401"], ["calibrate", "a", "--seconds", "601"],
        ["snapshot", "a", "--last", "604801", "-o", "x"], ["watch", "--count", "0"], ["events", "--count", "-1"],
        ["events", "a/b"], ["list", "a/b"], ["watch", "--seconds", "0"],
    ])
    func whatNoStationTakesIsRefusedHere(arguments: [String]) throws {
        let tool = try Tool(["ctl"] + arguments + ["--broker", "127.0.0.1:1"])
        #expect(tool.status == 64, "\(tool.status ?? -1) \(tool.errors)")
    }

    @Test(arguments: ["rollback", "reset"]) func allChangesTakeTheSameOptions(verb: String) throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement") { station, request in
            [station.reply(request, #""phase":"done","result":{"rev":8,"changed":["trace.rate_hz"]}"#)]
        }
        let tool = try Tool([
            "ctl", verb, "basement", "--if-rev", "7", "--confirm", "20", "--leave-pending", "--broker",
            "127.0.0.1:\(broker.port)",
        ])
        #expect(tool.status == 0, "\(tool.errors)")
        let request = try #require(station.requests.last)
        #expect(request.verb == "config-\(verb)" && request.object["if_rev"] as? Int == 7)
        #expect(request.object["confirm_s"] as? Double == 20)
        #expect(!station.requests.contains { $0.verb == "config-confirm" })
    }
}
