import Glibc
import Messages
import TestSupport
import Testing
import Values

@testable import seismote

/// The line by which a board joins a broker, and the certificate that it gets. (The conversation with a real broker is
/// deploy/checks/join.)
@Suite struct JoinTests {
    private static let token = "abcdefgh" + "jkmnpqrstuvwxyz23456789abc"
    private static let fingerprint = String(repeating: "0123456789ABCDEF", count: 4)
    private static let line = "broker.local/attic#\(token)@\(fingerprint)"

    @Test func theLineAsItIsPrintedAndCopied() throws {
        let line = try JoinLine(Self.line)
        #expect(line.broker.description == "mqtts://broker.local:8883" && line.name == "attic")
        #expect(line.id == "abcdefgh" && line.secret == "jkmnpqrstuvwxyz23456789abc")
        #expect(line.account == "enrol-abcdefgh" && line.requestTopic == "enrol/abcdefgh/csr")
        #expect(line.answerTopic == "enrol/abcdefgh/cert" && line.fingerprint == Self.fingerprint)
        #expect(try JoinLine("  sudo seismote join \(Self.line)\n") == line)
        #expect(try JoinLine("seismote join \(Self.line)\r\n").text == Self.line)
        let other = try JoinLine("[fe80::1]:9000/attic#\(Self.token)@SHA256:\(Self.fingerprint.lowercased())")
        #expect(other.broker.host == "fe80::1" && other.broker.port == 9000 && other.fingerprint == Self.fingerprint)
    }

    @Test(arguments: [
        ("", "it is empty"), ("a b", "2 words"), ("broker.local/attic", "/ or # is missing"),
        ("broker.local#\(token)@\(fingerprint)", "/ or # is missing"),
        ("broker.local/attic#\(token)", "@ is missing"), ("broker.local/at+tic#\(token)@\(fingerprint)", "station id"),
        ("broker.local/group#\(token)@\(fingerprint)", "reserved"),
        ("broker.local/attic#\(token)x@\(fingerprint)", "35 characters"),
        ("broker.local/attic#\(token.dropLast())1@\(fingerprint)", "of a-z and 2-9"),
        ("broker.local/attic#\(token)@\(fingerprint.dropLast())", "64 hexadecimal digits"),
        ("/attic#\(token)@\(fingerprint)", "host is missing"),
        ("broker.local:99999/attic#\(token)@\(fingerprint)", "port"),
        ("user@broker.local/attic#\(token)@\(fingerprint)", "no place for a user"),
    ]) func aLineThatIsNoneSaysWhichPartIsWrongAndNotTheToken(text: String, words: String) throws {
        let error = #expect(throws: CtlError.self) { try JoinLine(text) }
        let message = try #require(error).message
        #expect(message.contains(words), "\(message)")
        #expect(!message.contains("jkmnpqrstuvwxyz"), "the token is in the sentence")
    }

    @Test func aCertificateThatIsNotTakenSaysWhy() throws {
        let folder = try TemporaryFolder()
        let key = folder.path("key.pem")
        try FileChange(path: key, text: try StationCertificate.newKey(), isForRoot: true).write()
        #expect(StationCertificate.problem("words", keyFile: key, name: "attic") == "it cannot be read")
        let words = ["openssl", "req", "-x509", "-key", key, "-subj", "/CN=attic", "-days", "2"]
        let pem = try #require(ProgramRun(words, seconds: 60)).output
        #expect(StationCertificate.problem(pem, keyFile: key, name: "attic") == nil)
        try FileChange(path: key, text: try StationCertificate.newKey(), isForRoot: true).write()
        #expect(StationCertificate.problem(pem, keyFile: key, name: "attic") == "it is for another key")
        let none = folder.path("none")
        #expect(StationCertificate.problem(pem, keyFile: none, name: "attic")?.contains("openssl") == true)
        #expect(throws: CtlError.self) { try StationCertificate.request(keyFile: none, name: "attic") }
    }

    /// What a power cut has interrupted, and what lies on the boot partition, is gone on with without a person.
    @Test func aLineOnTheBootPartitionIsMovedFromThere() throws {
        let folder = try TemporaryFolder()
        let (boot, home) = (folder.path("boot"), folder.path("etc"))
        #expect(mkdir(boot, 0o755) == 0)
        func take() throws -> CtlStatus {
            let words = ["--resume", "--part", "take", "--boot", boot, "--config", "\(home)/seismote.yaml"]
            return try JoinShell(try JoinCommand.parse(words), config: "\(home)/seismote.yaml").run()
        }
        #expect(try take() == .done && SmallFiles.text("\(home)/joining/line") == nil)
        try FileChange(path: "\(boot)/seismote-join", text: "\u{feff}broker.local/attic\r\n").write()
        #expect(throws: CtlError.self) { try take() }
        #expect(SmallFiles.text("\(boot)/seismote-join-errors.txt")?.contains("/ or # is missing") == true)
        try FileChange(path: "\(boot)/seismote-join", text: "\u{feff}sudo seismote join \(Self.line)\r\n").write()
        #expect(try take() == .done)
        #expect(SmallFiles.text("\(home)/joining/line") == Self.line + "\n")
        #expect(SmallFiles.names(in: boot).isEmpty, "nothing is left on the partition")
        var facts = stat()
        #expect(stat("\(home)/joining/line", &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        // The second start takes up the same, and what cloud-init has written gets the mode and owner that it has to have.
        #expect(chmod("\(home)/joining/line", 0o644) == 0)
        #expect(try take() == .done && SmallFiles.text("\(home)/joining/line") == Self.line + "\n")
        #expect(stat("\(home)/joining/line", &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    }
}
