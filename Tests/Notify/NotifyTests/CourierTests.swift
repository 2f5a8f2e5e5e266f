import Foundation
import Testing

@testable import seismote_notify

@Suite struct CourierTests {
    private static func command(_ script: String, _ input: String = "") -> CourierCommand {
        Self.command(["sh", "-c", script], input)
    }

    private static func command(_ arguments: [String], _ input: String = "") -> CourierCommand {
        let notice = Notice(recipient: "a", key: "b", edition: 1, title: "c", text: "d", priority: .ordinary, click: "")
        var command = CourierCommand(notice, to: .mail(address: "a@example.org"), token: "")
        (command.arguments, command.input) = (arguments, Array(input.utf8))
        return command
    }

    /// Its end, once it is there.
    private static func end(_ courier: Courier) -> String?? {
        for _ in 0..<3000 {
            if let end = courier.end() { return .some(end) }
            usleep(10_000)
        }
        return nil
    }

    @Test func endsAreTold() throws {
        #expect(Self.end(try Courier(Self.command("read line; test \"$line\" = words", "words\n"))) == .some(nil))
        #expect(Self.end(try Courier(Self.command("echo bad; exit 3"))) == .some("sh: exit status 3: bad\n"))
        #expect(Self.end(try Courier(Self.command("kill -9 $$"))) == .some("sh: signal 9"))
        // (Nothing of a user's own settings.)
        #expect(Self.end(try Courier(Self.command("test \"$HOME\" = / && test -z \"$USER\""))) == .some(nil))
    }

    /// A defect: a program that is not installed ended the service, with all of its group.
    @Test func aProgramThatIsNotInstalled() throws {
        let missing = Self.command(["seismote-none"])
        for _ in 0..<3 {
            do throws(CourierError) {
                _ = try Courier(missing)
                Issue.record("it has started")
            } catch { #expect(error.message == "seismote-none cannot be started: No such file or directory") }
        }
        #expect(Self.end(try Courier(Self.command("exit 0"))) == .some(nil))
    }
}
