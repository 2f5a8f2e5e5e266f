import Foundation
import TestSupport
import Testing

@testable import seismote

/// What the tool makes of its arguments and of a narrow terminal.
@Suite(.timeLimit(.minutes(10))) struct CommandLineTests {
    /// A defect: `ctl lst` meant `log`, and `lst` was an unexpected argument.
    @Test(arguments: [(["ctl", "lst"], "list"), (["docter"], "doctor"), (["ctl", "pnig"], "ping")])
    func aCommandThatThereIsNotIsToldTheNearest(arguments: [String], meant: String) throws {
        let tool = try Tool(arguments)
        #expect(tool.status == 64 && tool.errors.contains("did you mean `\(meant)`?"), "\(tool.errors)")
    }

    /// A defect: Swift reads the command line from /proc, so that the tool printed its help and the agent began with the
    /// settings that are built in. (Only root can take /proc away.)
    @Test(.enabled(if: geteuid() == 0), arguments: [("seismote", "version", 0), ("seismoted", "--no-such", 64)])
    func argumentsCountWithoutProc(program: String, argument: String, status: Int) throws {
        let path = AgentProcess.builtProgram(program)
        let script = "mount -t tmpfs none /proc && exec timeout 20 \(path) \(argument)"
        let child = try ChildProcess("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script])
        #expect(child.wait(within: 60) == status, "\(child.output)\(child.errors)")
        #expect((child.output + child.errors).contains(program))
    }

    @Test func aTableThatIsTooWideForATerminalBecomesParagraphs() {
        var table = Table(["station", "state", "last event", ""], left: [0, 1, 2, 3])
        table.add(["basement", "online", "2019-07-06 03:19:53 UTC", "the quick brown fox jumps over the lazy dog"])
        table.add(["attic", "offline", "-", ""])
        let wide = table.text(width: 100)
        #expect(wide.split(separator: "\n").count == 3 && wide == table.text(width: .max))
        let narrow = table.text(width: 60)
        #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 60 }, "\(narrow)")
        #expect(
            narrow == """
                  basement
                    state       online
                    last event  2019-07-06 03:19:53 UTC
                                the quick brown fox jumps over the lazy dog
                  attic
                    state       offline
                """)
    }

    @Test(arguments: [40, 60, 79, 80, 120]) func doctorFitsATerminal(width: Int) {
        var facts = Facts()
        facts.settings.exists = false
        facts.settings.path = "/etc/seismote/seismote.yaml"
        let report = DoctorReport(facts)
        let lines = report.text(width: width).split(separator: "\n", omittingEmptySubsequences: false)
        // (A word may be longer than the line.)
        #expect(lines.allSatisfy { $0.count <= width }, "\(report.text(width: width))")
        func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }
        #expect(words(report.text(width: width)) == words(report.text(width: .max)))
    }

    /// As it is on a terminal, and whole where it is read by a program.
    @Test func aListOfStationsFitsATerminalOfSixtyColumns() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement")
        defer { _ = station }
        let words = ["ctl", "list", "--broker", "127.0.0.1:\(broker.port)"]
        let terminal = try TerminalProcess(words, width: 60, height: 20)
        #expect(terminal.wait() == 0)
        #expect(terminal.screen.text.contains("  basement\n    state"), "\(terminal.screen.text)")
        #expect(try Tool(words).output.contains("station"))
    }
}
