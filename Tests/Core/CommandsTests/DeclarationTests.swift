import Foundation
import Messages
import TestSupport
import Testing

@testable import Commands

/// What is made from the declarations of commands agrees with them.
@Suite struct DeclarationTests {
    private static let document = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    private static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../deploy/docs/reference/commands.md")

    /// The row of a command in the documents' table.
    private static func row(_ command: Command) -> String {
        var members = command.members.map { member in "`\(member.name)`" + (member.standard.map { " (\($0))" } ?? "") }
            .joined(separator: ", ")
        if command.needsID { members += "; needs `id`" }
        return "| `\(command.name)` | \(members)\(members.isEmpty ? "" : " ")| \(command.result) |"
    }

    @Test func theTableInTheDocumentsIsThatOfTheDeclarations() throws {
        let part = try #require(Self.document.components(separatedBy: "## Verbs\n").last)
        let rows = part.components(separatedBy: "\n## ")[0].split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("| `") }
        let wanted = Command.all.map(Self.row)
        #expect(rows == wanted, "deploy/docs/reference/commands.md should have:\n\(wanted.joined(separator: "\n"))")
    }

    /// (`deploy/checks/commands` runs these lines.)
    @Test(arguments: Command.all.map(\.name)) func eachHasItsCommandLine(_ name: String) {
        #expect(Self.document.contains("/cmd/\(name) -m"))
    }

    @Test func namesAreLevelsOfTopicsAndDiffer() {
        let names = Command.all.map(\.name)
        #expect(Set(names).count == names.count && !names.contains("selfcheck"))
        for command in Command.all {
            #expect(Topics.problem(inID: command.name) == nil && command.help.hasSuffix("."))
            let members = (CommandMember.common + command.members).map(\.name)
            #expect(Set(members).count == members.count, "\(command.name)")
        }
    }

    /// The id of what needs one is asked for; one at a time, or two, of what takes long; a restart of a group is spread.
    @Test func theRulesOfEachAreItsOwn() {
        #expect(Command.all.filter(\.needsID).map(\.name) == ["snapshot", "stream", "event", "resend"])
        let most = ["snapshot 2", "events 2", "event 2", "history 2", "resend 2", "selftest 1", "alarm-test 1"]
        #expect(Command.all.filter { $0.most < .max }.map { "\($0.name) \($0.most)" } == most)
        #expect(Command.all.filter { !$0.isRemembered }.map(\.name) == ["events", "history", "log-tail"])
        #expect(Command.all.filter { $0.groupDelay != 5 }.map { "\($0.name) \($0.groupDelay)" } == ["restart 30.0"])
    }

    /// The dashboard has a button for each label that an event can have.
    @Test func theDashboardHasEachLabel() throws {
        let url = Self.url.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("dashboard/languages/en.json")
        let language = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any]
        let labels = (language?["class"] as? [String: Any])?["labels"] as? [String: String]
        #expect(Set(labels?.keys.map(\.self) ?? []) == Set(Command.labels))
        // And so has Home Assistant's choice.
        let device = try Vectors.json("messages/home-assistant-device.json") as? [String: Any]
        let choice = (device?["components"] as? [String: Any])?["label"] as? [String: Any]
        #expect(choice?["options"] as? [String] == Command.labels)
    }
}
