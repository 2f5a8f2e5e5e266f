import Foundation
import TestSupport
import Testing

/// The question of `seismote ctl edit`, and the line that says what is waited for.
@Suite(.timeLimit(.minutes(10))) struct EditTerminalTests {
    private static func station(_ broker: Broker) throws -> FakeStation {
        try FakeStation(broker, "basement") { station, request in
            switch request.verb {
            case "config-get":
                [
                    station.reply(
                        request, #""phase":"done","rev":7,"result":{"rev":7,"config":{"trace":{"rate_hz":20}}}"#)
                ]
            case "config":
                [
                    station.reply(
                        request,
                        #""phase":"done","rev":8,"result":{"rev":8,"changed":["trace.rate_hz"],"pending":null}"#)
                ]
            default: []
            }
        }
    }

    private static func edit(_ broker: Broker, _ folder: TemporaryFolder, _ script: String) throws -> TerminalProcess {
        let editor = try folder.write("editor", script)
        return try TerminalProcess(
            ["ctl", "edit", "basement", "--broker", "127.0.0.1:\(broker.port)"],
            environment: ["VISUAL": "sh \(editor)", "TMPDIR": folder.url.path])
    }

    /// `y` sends, anything else does not. Defect: Ctrl-C and SIGTERM did nothing there.
    @Test(arguments: [("y\n", 0), ("n\n", 1), ("\n", 1), ("\u{4}", 1), ("\u{3}", 130)])
    func theQuestionIsAnswered(keys: String, status: Int) throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let folder = try TemporaryFolder()
        let terminal = try Self.edit(broker, folder, "sed -i 's/rate_hz: 20/rate_hz: 10/' \"$1\"")
        #expect(terminal.shows("Send it to basement? [y]es, [e]dit again, [n]o:"), "\(terminal.output)")
        #expect(terminal.screen.text.hasPrefix("- trace.rate_hz: 20\n+ trace.rate_hz: 10\nSend it"))
        terminal.type(keys)
        #expect(terminal.wait() == status, "\(terminal.output)")
        let sent = station.requests.filter { $0.verb == "config" }
        #expect(sent.count == (status == 0 ? 1 : 0))
        #expect(status != 0 || sent[0].object["if_rev"] as? Int == 7)
        #expect(terminal.output.contains(status == 0 ? "basement: rev 8, changed" : "not sent"))
    }

    @Test func itIsEditedAgain() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let folder = try TemporaryFolder()
        // First not what it should be, then not what it was.
        let terminal = try Self.edit(
            broker, folder,
            "if grep -q '\\[' \"$1\"; then echo 'trace: {rate_hz: 5}' >\"$1\"; else echo 'a: [' >\"$1\"; fi")
        #expect(terminal.shows("Edit again? [y]es, [n]o:"))
        terminal.type("y\n")
        #expect(terminal.shows("+ trace.rate_hz: 5\n"))
        terminal.type("e\n")
        #expect(eventually(within: 20) { terminal.output.components(separatedBy: "Edit again?").count == 3 })
        terminal.type("n\n")
        #expect(terminal.wait() == 78)
        #expect(!station.requests.contains { $0.verb == "config" })
    }

    /// Defect: on a narrow terminal each look at the clock was a new line.
    @Test func theWaitingLineStaysOneLine() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let terminal = try TerminalProcess(
            ["ctl", "ping", "basement", "--timeout", "6", "--broker", "127.0.0.1:\(broker.port)"], width: 30)
        #expect(eventually(within: 20) { terminal.screen.text.contains(#/ [1-5] s \(a…/#) })
        #expect(terminal.screen.lines.filter { !$0.isEmpty }.count == 1, "\(terminal.screen.text)")
        #expect(terminal.wait() == 2)
        #expect(
            terminal.screen.lines[0].wholeMatch(of: /basement: no answer after [0-9]+\.[0-9]/) != nil,
            "\(terminal.screen.text)")
        _ = station
    }
}
