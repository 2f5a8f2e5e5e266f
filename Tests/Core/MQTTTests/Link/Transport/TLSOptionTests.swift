import Foundation
import Messages
import Settings
import TestSupport
import Testing

@testable import MQTT

@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSOptionTests {
    private static func reasons(_ board: RealLink) -> [String] {
        board.reports.compactMap { if case .disconnected(_, let reason, _) = $0 { reason } else { nil } }
    }

    @Test func anExpiredCertificateIsNotAcceptedAndARenewedOneIs() throws {
        let broker = try TLSTests.broker()
        broker.kill()
        let authority = Authority(in: broker.folder)
        try authority.issue("server", by: "good", days: -1)
        try broker.start()
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
        }
        #expect(eventually { board.link.statistics.failedAttempts >= 2 })
        #expect(board.link.statistics.connects == 0)
        #expect(Self.reasons(board).first?.contains("certificate was not accepted") == true, "\(Self.reasons(board))")
        try authority.issue("server", by: "good")
        broker.kill()
        try broker.start()
        #expect(board.connected())
    }

    @Test func aWrongAuthorityIsSaidInWords() throws {
        let broker = try TLSTests.broker()
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.caFile = broker.folder.path("other.crt")
        }
        #expect(eventually { board.link.statistics.failedAttempts >= 1 })
        #expect(Self.reasons(board).first?.contains("certificate was not accepted") == true, "\(Self.reasons(board))")
    }

    /// It was "Protocol error" or "The connection was lost": the broker's own words are mostly lost with the connection.
    @Test(arguments: ["", "tls_version tlsv1.2\n"]) func aMissingClientCertificateIsSaidInWords(version: String) throws
    {
        let broker = try TLSTests.broker(TLSTests.lines + "require_certificate true\n" + version)
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
        }
        #expect(eventually { Self.reasons(board).count >= 4 })
        let reasons = Self.reasons(board)
        #expect(reasons.allSatisfy { $0.contains("client certificate (mqtt.tls.cert_file") }, "\(reasons)")
        #expect(board.link.statistics.connects == 0)
    }

    @Test func aClientCertificateOfAnotherAuthorityIsSaidInWords() throws {
        let broker = try TLSTests.broker(TLSTests.lines + "require_certificate true\n")
        try Authority(in: broker.folder).issue("stranger", by: "other")
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
            $0.connection.mqtt.tls.certFile = broker.folder.path("stranger.crt")
            $0.connection.mqtt.tls.keyFile = broker.folder.path("stranger.key")
        }
        #expect(eventually { Self.reasons(board).count >= 3 })
        let reasons = Self.reasons(board)
        #expect(reasons.allSatisfy { $0.contains("not accept") && $0.contains("client certificate") }, "\(reasons)")
    }

    /// A pipe in place of a file held the link's thread up for ever: it could not even be stopped.
    @Test(arguments: ["password", "ca", "certificate", "key", "psk"]) func aPipeInPlaceOfAFileIsRefusedAndNamed(
        which: String
    ) throws {
        let broker = try TLSTests.broker()
        let pipe = broker.folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.caFile = which == "ca" ? pipe : broker.folder.path("good.crt")
            if which == "certificate" || which == "key" {
                $0.connection.mqtt.tls.certFile = which == "certificate" ? pipe : broker.folder.path("board.crt")
                $0.connection.mqtt.tls.keyFile = which == "key" ? pipe : broker.folder.path("board.key")
            }
            if which == "password" { ($0.connection.mqtt.username, $0.connection.mqtt.passwordFile) = ("board", pipe) }
            if which == "psk" { ($0.connection.mqtt.tls.pskIdentity, $0.connection.mqtt.tls.pskFile) = ("board", pipe) }
        }
        #expect(eventually { Self.reasons(board).count >= 2 })
        let reasons = Self.reasons(board)
        #expect(reasons.allSatisfy { $0.contains(pipe) && $0.contains("not a regular file") }, "\(reasons)")
        #expect(board.link.stop(within: 5))
    }

    /// The agent's own certificate, renewed while it runs.
    @Test func aRenewedClientCertificateIsTakenUpAtTheNextConnect() throws {
        let broker = try TLSTests.broker(
            TLSTests.lines + "require_certificate true\nuse_identity_as_username true\nlog_type all\n")
        let authority = Authority(in: broker.folder)
        func install(_ name: String) throws {
            for end in ["crt", "key"] {
                let file = broker.folder.path("mine.\(end)")
                try? FileManager.default.removeItem(atPath: file)
                try FileManager.default.copyItem(atPath: broker.folder.path("\(name).\(end)"), toPath: file)
            }
        }
        try authority.issue("old", by: "good")
        try authority.issue("renewed", by: "good")
        try install("old")
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
            $0.connection.mqtt.tls.certFile = broker.folder.path("mine.crt")
            $0.connection.mqtt.tls.keyFile = broker.folder.path("mine.key")
        }
        #expect(board.connected())
        #expect(eventually { broker.log.contains("u'old'") })
        try install("renewed")
        broker.kill()
        #expect(board.disconnected())
        try broker.start()
        #expect(board.connected())
        #expect(eventually { broker.log.contains("u'renewed'") }, "\(broker.log)")
    }

    /// `openssl s_server` says what the client offers.
    private static func server(_ broker: Broker, _ port: Int, _ arguments: [String]) throws -> ChildProcess {
        let server = try ChildProcess(
            "/bin/sh",
            [
                // It ends with its input: a pipe whose writer it is itself has no end.
                "-c", "mkfifo \"$0\" && exec openssl s_server \"$@\" <>\"$0\"", broker.folder.path("input"), "-accept",
                "127.0.0.1:\(port)", "-cert",
                broker.folder.path("server.crt"), "-key",
                broker.folder.path("server.key"), "-naccept", "1", "-state",
            ] + arguments)
        guard eventually(within: 20, { server.output.contains("ACCEPT") }) else {
            throw TestFailure("s_server: \(server.errors)")
        }
        return server
    }

    @Test func theNameOfTheProtocolIsOffered() throws {
        let broker = try TLSTests.broker()
        let port = try FreePort.find()
        let server = try Self.server(broker, port, ["-alpn", "mqtt"])
        let board = try RealLink(port: port, tls: true) {
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
            $0.connection.mqtt.tls.alpn = "mqtt"
            // What s_server says comes out when the connection ends.
            $0.connection.connectTimeout = 1
        }
        #expect(
            eventually { server.output.contains("ALPN protocols selected: mqtt") }, "\(server.output)\(server.errors)")
        #expect(board.attempts >= 1)
    }

    @Test(arguments: [MQTTConfiguration.TLSVersion.v12, .v13]) func theOldestVersionOfTLSIsAsSaid(
        version: MQTTConfiguration.TLSVersion
    ) throws {
        let broker = try TLSTests.broker()
        let port = try FreePort.find()
        let server = try Self.server(broker, port, ["-tls1_2"])
        let board = try RealLink(port: port, tls: true) {
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
            $0.connection.mqtt.tls.minimumVersion = version
            $0.connection.connectTimeout = 1
        }
        if version == .v12 {
            #expect(eventually { server.output.contains("CIPHER is") })
        } else {
            #expect(eventually { board.link.statistics.failedAttempts >= 1 })
            #expect(!server.output.contains("CIPHER is"))
        }
    }

    @Test func aSharedKeyTakesThePlaceOfCertificates() throws {
        let broker = try Broker(
            "psk_file %/keys\npsk_hint seismote\nuse_identity_as_username true\nlog_type all",
            files: ["keys": "board:0123456789abcdef\n", "mine": "0123456789abcdef\n", "wrong": "ffffffff\n"])
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.pskIdentity = "board"
            $0.connection.mqtt.tls.pskFile = broker.folder.path("mine")
        }
        #expect(board.connected())
        let stranger = try RealLink(port: broker.port, id: "stranger", tls: true) {
            $0.connection.mqtt.tls.pskIdentity = "board"
            $0.connection.mqtt.tls.pskFile = broker.folder.path("wrong")
        }
        #expect(eventually { stranger.link.statistics.failedAttempts >= 2 })
        #expect(stranger.link.statistics.connects == 0)
        // After the broker is gone and back as well.
        broker.kill()
        #expect(board.disconnected())
        try broker.start()
        #expect(board.connected())
    }

    /// With the library alone, a server that does not know the key and shows any certificate would get the password.
    @Test func withASharedKeyACertificateIsNoProof() throws {
        let broker = try TLSTests.broker(TLSTests.lines + "log_type all\n")
        try broker.folder.write("mine", "0123456789abcdef\n")
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.pskIdentity = "board"
            $0.connection.mqtt.tls.pskFile = broker.folder.path("mine")
        }
        #expect(eventually { board.link.statistics.failedAttempts >= 2 })
        #expect(board.link.statistics.connects == 0)
        #expect(!broker.log.contains("as board"))
    }

    @Test func aKeyThatIsNoneIsNamedAndNotShown() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("key", "not hexadecimal\n")
        let board = try RealLink(port: try FreePort.find(), tls: true) {
            $0.connection.mqtt.tls.pskIdentity = "board"
            $0.connection.mqtt.tls.pskFile = file
        }
        #expect(eventually { board.link.statistics.failedAttempts >= 1 })
        let reasons = Self.reasons(board)
        #expect(reasons.contains { $0.contains(file) && $0.contains("hexadecimal") }, "\(reasons)")
        #expect(!reasons.contains { $0.contains("not hexadecimal") })
    }
}
