import Testing

@testable import MQTT

@Suite struct BrokerAddressTests {
    @Test(arguments: [
        ("mqtt://localhost:1883", BrokerAddress(host: "localhost", port: 1883, tls: false)),
        ("mqtt://broker.school.example", BrokerAddress(host: "broker.school.example", port: 1883, tls: false)),
        ("mqtts://10.0.0.1", BrokerAddress(host: "10.0.0.1", port: 8883, tls: true)),
        ("mqtts://[::1]:8884", BrokerAddress(host: "::1", port: 8884, tls: true)),
        ("mqtt://[fe80::1]", BrokerAddress(host: "fe80::1", port: 1883, tls: false)),
        ("mqtt://host:65535/", BrokerAddress(host: "host", port: 65535, tls: false)),
    ])
    func reads(_ uri: String, _ expected: BrokerAddress) throws {
        let address = try BrokerAddress(uri: uri)
        #expect(address == expected)
        #expect(try BrokerAddress(uri: address.description) == address)
    }

    @Test(arguments: [
        "", "localhost", "http://host", "mqtt://", "mqtt://:1883", "mqtt://host:", "mqtt://host:0", "mqtt://host:65536",
        "mqtt://host:-1", "mqtt://host:1x", "mqtt://user:secret@host", "mqtt://host/path", "mqtt://::1", "mqtt://[::1",
        "mqtt://[::1]x", "mqtt://[]:1", "mqtt://host?x", "mqtt://a b", "mqtt://a\0b",
        "mqtt://host:99999999999999999999",
    ])
    func refuses(_ uri: String) {
        #expect(throws: MQTTError.self) { try BrokerAddress(uri: uri) }
    }
}
