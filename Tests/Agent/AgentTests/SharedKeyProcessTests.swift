import Foundation
import TestSupport
import Testing

/// A key that is shared with the broker, in processes that have made no TLS connection before: there the library did not
/// find the key, and no handshake ever succeeded.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SharedKeyProcessTests {
    private static let key = "00c0ffee0123456789abcdef"
    private static let versions = ["1.2", "1.3"]

    private static func agent(_ port: Int, key: String, in folder: TemporaryFolder, version: String) throws
        -> AgentProcess
    {
        let file = try folder.write("mine", key + "\n")
        return try AgentProcess(
            settings: """
                station: {id: board}
                sensor: {driver: simulate, simulate: {scenario: table-knock}}
                mqtt:
                  uri: "mqtts://127.0.0.1:\(port)"
                  tls: {psk_identity: board, psk_file: "\(file)", min_version: \(version)}
                """)
    }

    /// - Returns: the port with the key; that of the broker itself is for those who look on.
    private static func broker() throws -> (Broker, Int) {
        let port = try FreePort.find()
        let broker = try Broker(
            "listener \(port) 127.0.0.1\npsk_file %/keys\npsk_hint seismote\nuse_identity_as_username true",
            files: ["keys": "board:\(Self.key)\n"])
        return (broker, port)
    }

    /// It ends with its input: a pipe whose writer it is itself has no end.
    private static func server(_ port: Int, _ arguments: [String], _ folder: TemporaryFolder) throws -> ChildProcess {
        try ChildProcess(
            "/bin/sh",
            [
                "-c", "mkfifo \"$0\" && exec openssl s_server \"$@\" <>\"$0\"", folder.path("input"), "-accept",
                "127.0.0.1:\(port)",
            ] + arguments)
    }

    @Test(arguments: versions) func theRightKeyConnectsToMosquitto(version: String) throws {
        let (broker, port) = try Self.broker()
        let listener = try Subscriber(port: broker.port, ["seismote/board/state/online"])
        let agent = try Self.agent(port, key: Self.key, in: broker.folder, version: version)
        #expect(listener.first(within: 20) { $0.text == "online" } != nil, "\(agent.child.errors)")
    }

    @Test(arguments: versions) func aWrongKeyDoesNot(version: String) throws {
        let (broker, port) = try Self.broker()
        let agent = try Self.agent(port, key: "c0ffee", in: broker.folder, version: version)
        #expect(eventually { agent.child.errors.contains("not connected: TLS: ") }, "\(agent.child.errors)")
        #expect(!agent.child.errors.contains("notice connected"))
        #expect(!agent.child.errors.contains("c0ffee"))
        #expect(broker.log.contains(" board ") == false)
    }

    @Test(arguments: versions) func theRightKeyIsAcceptedByOpenSSL(version: String) throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.find()
        let server = try Self.server(
            port, ["-nocert", "-psk_identity", "board", "-psk", Self.key, "-tls\(version.replacing(".", with: "_"))"],
            folder)
        #expect(eventually(within: 20) { server.output.contains("ACCEPT") }, "\(server.errors)")
        let agent = try Self.agent(port, key: Self.key, in: folder, version: version)
        #expect(
            eventually(within: 20) { server.output.contains("CIPHER is ") },
            "\(server.output) \(server.errors) \(agent.child.errors)")
    }

    /// A server that has certificates and not the key must not hear the password.
    @Test(arguments: ["-tls1_2", "-tls1_3"]) func aServerWithACertificateInsteadIsNotBelieved(version: String) throws {
        let folder = try TemporaryFolder()
        let (key, certificate) = (folder.path("server.key"), folder.path("server.crt"))
        let made = try ChildProcess(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=127.0.0.1", "-keyout", key, "-out", certificate,
            ])
        #expect(made.wait(within: 30) == 0)
        let port = try FreePort.find()
        let server = try Self.server(port, ["-cert", certificate, "-key", key, version], folder)
        #expect(eventually(within: 20) { server.output.contains("ACCEPT") }, "\(server.errors)")
        let agent = try Self.agent(port, key: "c0ffee", in: folder, version: "1.2")
        #expect(eventually { agent.child.errors.contains("not connected: TLS: ") }, "\(agent.child.errors)")
        #expect(!server.output.contains("CIPHER is "), "\(server.output)")
    }
}
