import MQTT
import TestSupport
import Testing

@testable import seismote_network

/// A connection to a cluster.
@Suite struct AMQPConnectionTests {
    /// A defect: OpenSSL asked for the pass phrase at the terminal and waited; without one the file was not named.
    @Test func filesOfTLSAreNamedBeforeTheConnection() throws {
        let folder = try TemporaryFolder()
        let label = "ENCRYPTED PRIVATE KEY"
        let key = try folder.write("board.key", "-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n")
        var access = ConnectionOptions(brokers: [])
        (access.mqtt.tls.certFile, access.mqtt.tls.keyFile) = ("", key)
        let node = try #require(ClusterNode("amqps://127.0.0.1:1"))
        do throws(AMQPError) {
            _ = try AMQPConnection(node, access)
            Issue.record("connected")
        } catch {
            #expect(error.message.contains(key) && error.message.contains("pass phrase"), "\(error.message)")
        }
    }
}
