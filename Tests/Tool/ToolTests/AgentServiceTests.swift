import Glibc
import TestSupport
import Testing

@testable import seismote

/// What is said of the service after its start. (The real systemd refuses and obeys in deploy/checks/delivery; here a script
/// gives its answers.)
@Suite struct AgentServiceTests {
    private enum Answer: String {
        case yes = "exit 0"
        case no = "exit 1"
        case never = "exec sleep 60"
    }

    private func start(order: Answer, wait: Answer) throws -> (AgentService.Start, said: [String]) {
        let folder = try TemporaryFolder()
        let program = folder.path("systemctl")
        let script = """
            #!/bin/sh
            echo "$*" >>\(folder.path("said"))
            case $1 in
                --no-block) \(order.rawValue) ;;
                start) \(wait.rawValue) ;;
            esac
            """
        try FileChange(path: program, text: script).write()
        #expect(chmod(program, 0o755) == 0)
        let outcome = AgentService.start(seconds: 2, by: program)
        return (outcome, (SmallFiles.text(folder.path("said")) ?? "").split(separator: "\n").map(String.init))
    }

    private static let order = "--no-block restart seismote"

    @Test func itRuns() throws {
        let (outcome, said) = try start(order: .yes, wait: .yes)
        #expect(outcome == .runs && outcome.problem == nil)
        #expect(said == ["daemon-reload", "enable seismote", Self.order, "start seismote"])
    }

    /// It goes on with its former settings, and somebody has to try again.
    @Test(arguments: [Answer.no, .never]) private func anOrderThatWasNotTakenIsAFailure(answer: Answer) throws {
        let (outcome, said) = try start(order: answer, wait: .yes)
        #expect(outcome == .failed("systemctl restart seismote failed: journalctl -u seismote -n 50 says why"))
        #expect(said.last == Self.order, "it was asked to wait for what nobody does")
    }

    /// A slow board's restart lasted longer than anybody waited, and was taken for one that never comes.
    @Test func anOrderThatWasTakenIsDoneLater() throws {
        #expect(try start(order: .yes, wait: .never).0 == .later("it takes longer than 2 s: systemctl status seismote"))
        #expect(try start(order: .yes, wait: .no).0 == .later("it ended: journalctl -u seismote -n 50 says why"))
    }
}
