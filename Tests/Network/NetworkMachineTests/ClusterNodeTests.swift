import Testing

@testable import seismote_network

@Suite struct ClusterNodeTests {
    @Test(arguments: [
        ("amqp://a", "a", 5672, false), ("amqps://a.b/", "a.b", 5671, true), ("amqps://a:1", "a", 1, true),
        ("amqp://[::1]:7", "::1", 7, false), ("amqp://[::1]", "::1", 5672, false),
        ("amqps://[fe80::1%eth0]:7", "fe80::1%eth0", 7, true),
    ])
    func nodes(uri: String, host: String, port: Int, isEncrypted: Bool) {
        let node = ClusterNode(uri)
        #expect(node?.host == host && node?.port == port && node?.isEncrypted == isEncrypted)
    }

    @Test(arguments: [
        "", "a", "mqtt://a", "amqp://", "amqp://a:0", "amqp://a:x", "amqp://a/b", "amqp:/a", "amqp://u@a",
        // Defects: the last group of an address was its port, and a name could have any character.
        "amqp://[fe80::1", "amqp://fe80::1", "amqp://[fe80::1]x", "amqp://a..b", "amqp://a,b", "amqp://1.2.3",
        "amqp://a:", "amqp://[a]",
    ])
    func badNodes(uri: String) { #expect(ClusterNode(uri) == nil) }
}
