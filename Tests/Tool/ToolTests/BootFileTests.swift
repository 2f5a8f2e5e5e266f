import Glibc
import TestSupport
import Testing

@testable import seismote

/// A settings file that somebody has put on the boot partition with another computer.
@Suite struct BootFileTests {
    /// A boot partition and a folder for settings, both in a folder of their own.
    private struct Card {
        let folder: TemporaryFolder
        let boot: String
        let home: String
        var file: BootFile { BootFile(folder: boot, config: "\(home)/seismote.yaml") }

        init() throws {
            folder = try TemporaryFolder()
            (boot, home) = (folder.path("boot"), folder.path("etc"))
            for path in [boot, home] { try #require(mkdir(path, 0o755) == 0) }
        }

        func put(_ name: String, _ text: String) throws { try FileChange(path: name, text: text).write() }
        func text(_ path: String) -> String? { SmallFiles.text(path) }
        func mode(_ path: String) -> UInt32 {
            var facts = stat()
            return stat(path, &facts) == 0 ? facts.st_mode & 0o7777 : 0
        }
    }

    private static func settings(_ card: Card) -> String {
        """
        # Of the attic
        station: {id: attic}
        mqtt:
          uri: mqtts://broker.local:8883
          username: attic
          password: "k7mq-secret"
          tls:
            ca_file: \(card.boot)/ca.pem

        """
    }

    @Test func itMovesWithItsSecrets() throws {
        let card = try Card()
        try card.put("\(card.boot)/seismote.yaml", Self.settings(card))
        try card.put("\(card.boot)/ca.pem", "PEM\n")
        try card.put("\(card.boot)/seismote-errors.txt", "of the last time\n")
        #expect(try card.file.take() == .done)
        let new = try #require(card.text("\(card.home)/seismote.yaml"))
        #expect(new.hasPrefix("# Of the attic\nstation: {id: attic}\n") && !new.contains("k7mq"))
        #expect(new.contains("password_file: \(card.home)/mqtt-password") && new.contains("\(card.home)/ca.pem"))
        #expect(
            card.text("\(card.home)/mqtt-password") == "k7mq-secret\n" && card.text("\(card.home)/ca.pem") == "PEM\n")
        #expect(card.mode("\(card.home)/mqtt-password") & 0o007 == 0)
        #expect(SmallFiles.names(in: card.boot).isEmpty, "nothing is left on the partition")
        #expect(card.file.waiting == nil && card.file.problem == nil)
    }

    @Test func whatWasThereBeforeStaysForTheAgentAlone() throws {
        let card = try Card()
        try card.put("\(card.home)/seismote.yaml", "mqtt: {username: a, password: old-secret}\n")
        try card.put("\(card.boot)/seismote.yaml", "station: {id: attic}\n")
        #expect(try card.file.take() == .done)
        #expect(card.text("\(card.home)/seismote.yaml.before-boot")?.contains("old-secret") == true)
        #expect(card.mode("\(card.home)/seismote.yaml.before-boot") & 0o007 == 0)
    }

    @Test(arguments: [
        ("statoin: {id: attic}\n", "did you mean `station`"),
        (
            "mqtt: {uri: \"mqtts://b\", tls: {ca_file: BOOT/ca.pem}}\n",
            "/mqtt/tls/ca_file: this file is not on the partition"
        ),
    ])
    func whatIsWrongIsSaidBesideIt(text: String, problem: String) throws {
        let card = try Card()
        try card.put("\(card.boot)/seismote.yaml", text.split(separator: "BOOT").joined(separator: card.boot))
        #expect(try card.file.take() == .settings)
        #expect(card.text("\(card.boot)/seismote-errors.txt")?.contains(problem) == true)
        #expect(card.text("\(card.home)/seismote.yaml") == nil && card.file.waiting != nil)
        #expect(card.file.problem?.contains(problem) == true)
    }

    @Test func editorsOfOtherSystemsAreUnderstood() throws {
        let card = try Card()
        let text =
            "\u{feff}"
            + Self.settings(card).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        try card.put("\(card.boot)/seismote.yaml", text)
        try card.put("\(card.boot)/ca.pem", "PEM\n")
        #expect(try card.file.take() == .done)
        let new = try #require(card.text("\(card.home)/seismote.yaml"))
        #expect(new.hasPrefix("# Of the attic\nstation: {id: attic}\n") && !new.utf8.contains(13))
    }
}
