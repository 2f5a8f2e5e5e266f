import Glibc
import Settings
import TestSupport
import Testing
import Values

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

    /// The settings of a card whose keys of TLS name these files, by their paths below the partition.
    private static func settings(_ card: Card, ca: String, certificate: String, key: String) -> String {
        """
        station: {id: attic}
        mqtt:
          uri: mqtts://broker.local:8883
          tls:
            ca_file: \(card.boot)/\(ca)
            cert_file: \(card.boot)/\(certificate)
            key_file: \(card.boot)/\(key)

        """
    }

    /// Files of one name in several folders, one of them with the name of the settings file itself: all arrive, nothing of
    /// one is lost in another.
    @Test(arguments: [
        ("ca/tls.pem", "own/tls.pem", "key/tls.pem"), ("a/x.pem", "b/x.pem", "x.pem"),
        ("ca/seismote.yaml", "own/mqtt-password", "own/key.pem"), ("ca/cert_file-a", "ca/a", "own/a"),
    ])
    func filesOfOneNameAllArrive(ca: String, certificate: String, key: String) throws {
        let card = try Card()
        for name in ["ca", "own", "key", "a", "b"] { try #require(mkdir("\(card.boot)/\(name)", 0o755) == 0) }
        for name in [ca, certificate, key] { try card.put("\(card.boot)/\(name)", "content of \(name)\n") }
        try card.put("\(card.boot)/seismote.yaml", Self.settings(card, ca: ca, certificate: certificate, key: key))
        #expect(try card.file.take() == .done)
        let new = try YAMLDocument.read(Array((card.text("\(card.home)/seismote.yaml") ?? "").utf8))
        for (name, content) in [("ca_file", ca), ("cert_file", certificate), ("key_file", key)] {
            let path = new["mqtt", "tls"]?[name]?.rawText ?? ""
            #expect(card.text(path) == "content of \(content)\n", "\(name) is \(path)")
            #expect(card.text("\(card.boot)/\(content)") == nil, "\(content) is still on the partition")
        }
        #expect(card.mode(new["mqtt", "tls", "key_file"]?.rawText ?? "") & 0o007 == 0)
        #expect(new["station", "id"]?.rawText == "attic")
    }

    /// Certificate and key in one file, told by two spellings of its path.
    @Test func oneFileForTwoKeysArrivesOnce() throws {
        let card = try Card()
        try #require(mkdir("\(card.boot)/own", 0o755) == 0)
        for name in ["ca.pem", "own/both.pem"] { try card.put("\(card.boot)/\(name)", "content of \(name)\n") }
        try card.put(
            "\(card.boot)/seismote.yaml",
            Self.settings(card, ca: "ca.pem", certificate: "own/both.pem", key: "own/../own/both.pem"))
        #expect(try card.file.take() == .done)
        #expect(card.text("\(card.home)/both.pem") == "content of own/both.pem\n")
        #expect(card.mode("\(card.home)/both.pem") & 0o007 == 0)
        #expect(SmallFiles.names(in: card.boot) == ["own"] && SmallFiles.names(in: "\(card.boot)/own").isEmpty)
    }

    /// A path that leads out of the partition is not moved from there, nor wiped.
    @Test func nothingOutsideThePartitionIsTouched() throws {
        let card = try Card()
        let key = card.folder.path("key.pem")
        for path in [key, "\(card.boot)/ca.pem", "\(card.boot)/cert.pem"] { try card.put(path, "content\n") }
        try card.put(
            "\(card.boot)/seismote.yaml",
            Self.settings(card, ca: "ca.pem", certificate: "cert.pem", key: "../key.pem"))
        #expect(try card.file.take() == .settings)
        #expect(card.text(key) == "content\n" && card.text("\(card.boot)/ca.pem") == "content\n")
        #expect(card.file.problem?.contains("/mqtt/tls/key_file: this file is not on the partition") == true)
    }

    /// The power is cut while the partition is wiped, before each file: the next start wipes the rest, the last of all the
    /// settings file, and the station has everything.
    @Test(arguments: 0...3) func aCutWhileThePartitionIsWiped(wiped: Int) throws {
        let card = try Card()
        let files = ["ca.pem", "cert.pem", "key.pem"]
        func put() throws {
            for name in files { try card.put("\(card.boot)/\(name)", "content of \(name)\n") }
            try card.put(
                "\(card.boot)/seismote.yaml",
                Self.settings(card, ca: files[0], certificate: files[1], key: files[2]))
        }
        try put()
        #expect(try card.file.take() == .done)
        // As it was when so many files had been wiped.
        try put()
        for name in files.prefix(wiped) { unlink("\(card.boot)/\(name)") }
        #expect(try card.file.take() == .done)
        #expect(SmallFiles.names(in: card.boot).isEmpty)
        for name in files { #expect(card.text("\(card.home)/\(name)") == "content of \(name)\n") }
    }
}
