import Foundation
import Messages
import TestSupport
import Testing

@testable import MQTT

/// Certificates of an authority of its own, made by openssl for one test.
struct Authority {
    let folder: TemporaryFolder

    /// Those that are in the folder already.
    init(in folder: TemporaryFolder) { self.folder = folder }

    init(_ folder: TemporaryFolder, _ name: String) throws {
        self.folder = folder
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=\(name)", "-keyout", folder.path("\(name).key"), "-out", folder.path("\(name).crt"),
        ])
    }

    /// A certificate for 127.0.0.1, or of a client, signed by the authority of this name.
    func issue(_ subject: String, by name: String, address: String = "127.0.0.1", days: Int = 2) throws {
        try folder.write("ext", "subjectAltName=IP:\(address)\n")
        try openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(subject)",
            "-keyout", folder.path("\(subject).key"), "-out", folder.path("\(subject).csr"),
        ])
        try openssl([
            "x509", "-req", "-in", folder.path("\(subject).csr"), "-CA", folder.path("\(name).crt"), "-CAkey",
            folder.path("\(name).key"), "-CAcreateserial", "-days", "\(days)", "-extfile", folder.path("ext"), "-out",
            folder.path("\(subject).crt"),
        ])
    }

    private func openssl(_ arguments: [String]) throws {
        let child = try ChildProcess("/usr/bin/openssl", arguments)
        guard child.wait(within: 30) == 0 else { throw TestFailure("openssl \(arguments): \(child.errors)") }
    }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSTests {
    static let lines = "cafile %/good.crt\ncertfile %/server.crt\nkeyfile %/server.key\n"

    static func broker(_ lines: String = Self.lines) throws -> Broker {
        let broker = try Broker(lines, started: false)
        let authority = try Authority(broker.folder, "good")
        try authority.issue("server", by: "good")
        try authority.issue("board", by: "good")
        _ = try Authority(broker.folder, "other")
        try broker.start()
        return broker
    }

    @Test(arguments: BrokerTests.versions) func publishesOverTLS(version: MQTTVersion) throws {
        let broker = try Self.broker(Self.lines + "require_certificate true\nuse_identity_as_username true\n")
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
            $0.connection.mqtt.tls.certFile = broker.folder.path("board.crt")
            $0.connection.mqtt.tls.keyFile = broker.folder.path("board.key")
        }
        board.publish("e/trace", String(repeating: "x", count: 100_000))
        #expect(board.acked(2))
        // A broker killed without close_notify, and started again.
        broker.kill()
        #expect(board.disconnected())
        try broker.start()
        #expect(board.connected())
        board.publish("e/trace", "y")
        #expect(board.acked(4))
    }

    @Test func withAWrongAuthorityItKeepsTryingAndRecovers() throws {
        let broker = try Self.broker()
        let file = broker.folder.path("ca.crt")
        try FileManager.default.copyItem(atPath: broker.folder.path("other.crt"), toPath: file)
        let effort = LinkEffort()
        let board = try RealLink(port: broker.port, tls: true) { $0.connection.mqtt.tls.caFile = file }
        #expect(eventually { board.link.statistics.failedAttempts >= 5 })
        #expect(!board.link.statistics.connected)
        #expect(effort.isBelow(0.5))
        // The right authority in the same file is taken up without a restart.
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.copyItem(atPath: broker.folder.path("good.crt"), toPath: file)
        #expect(board.connected())
    }

    @Test func aMissingFileIsNamedAndWaitedFor() throws {
        let broker = try Self.broker()
        let file = broker.folder.path("later.crt")
        let board = try RealLink(port: broker.port, tls: true) { $0.connection.mqtt.tls.caFile = file }
        #expect(eventually { board.link.statistics.failedAttempts >= 2 })
        let named = board.reports.contains { event in
            if case .disconnected(_, let reason, _) = event { reason.contains(file) } else { false }
        }
        #expect(named)
        try FileManager.default.copyItem(atPath: broker.folder.path("good.crt"), toPath: file)
        #expect(board.connected())
    }

    @Test func aCertificateForAnotherHostIsNotAccepted() throws {
        let broker = try Self.broker()
        broker.kill()
        try Authority(broker.folder, "good").issue("server", by: "good", address: "127.0.0.9")
        try broker.start()
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
        }
        #expect(eventually { board.link.statistics.failedAttempts >= 2 })
        #expect(board.link.statistics.connects == 0)
        #expect(broker.log.contains("alert"))
    }
}
