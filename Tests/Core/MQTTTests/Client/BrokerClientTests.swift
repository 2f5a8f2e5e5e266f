import Platform
import Settings
import TestSupport
import Testing

@testable import MQTT

/// A client of one thread at a real mosquitto that keeps more than it can tell at once.
@Suite struct BrokerClientTests {
    #if arch(x86_64)
    private let machine = "x86_64"
    #else
    private let machine = "aarch64"
    #endif
    /// More than the 20 000 messages that a client once took before an answer, passing over the rest without a word.
    private static let count = 21_000

    private static func broker() throws -> (broker: Broker, access: ConnectionOptions) {
        let broker = try Broker("max_inflight_messages 0\nmax_queued_messages 0")
        var access = ConnectionOptions(brokers: [.init(host: "127.0.0.1", port: broker.port, tls: false)])
        access.connectTimeout = 30
        let client = BrokerClient(access)
        try client.connect()
        defer { client.disconnect() }
        for number in 0..<count {
            _ = try client.send("seismote/s\(number)/event/last", Array("{\"number\":\(number)}".utf8), retain: true)
        }
        var acknowledged = 0
        while acknowledged < count {
            #expect(try client.next(until: monotonicSeconds() + 1) == nil)
            let some = client.takeAcknowledged().count
            try #require(some > 0, "\(acknowledged) of \(count)")
            acknowledged += some
        }
        return (broker, access)
    }

    private static func take(_ client: BrokerClient) throws -> Set<String> {
        var topics: Set<String> = []
        while topics.count < count, let message = try client.next(until: monotonicSeconds() + 5) {
            topics.insert(message.topic)
        }
        return topics
    }

    /// What the broker keeps comes whole: with a subscription that is waited for, and with one that is not, which needs no
    /// room for all of it.
    @Test func allThatIsRetainedComes() throws {
        let (broker, access) = try Self.broker()
        try withExtendedLifetime(broker) {
            let waiting = BrokerClient(access)
            try waiting.connect()
            // (What is kept comes before the answer to the second.)
            try waiting.ask(for: ["seismote/+/event/last"])
            try waiting.subscribe(["seismote/+/state/online"])
            #expect(try Self.take(waiting).count == Self.count)
            let asking = BrokerClient(access, inboxLimit: 1 << 20)
            try asking.connect()
            try asking.ask(for: ["seismote/+/event/last"])
            #expect(try Self.take(asking).count == Self.count)

            // Where there is no room, it is said, and the connection is over: what was acknowledged is not dropped in silence.
            let full = BrokerClient(access, inboxLimit: 100_000)
            try full.connect()
            let error = #expect(throws: ClientError.self) {
                try full.ask(for: ["seismote/+/event/last"])
                try full.subscribe(["seismote/+/state/online"])
            }
            let words = error?.description ?? ""
            #expect(words.contains("more than 100000 bytes of messages"), "\(words)")
            // It may connect again, and has room again.
            try full.connect()
            try full.ask(for: ["seismote/s1/event/last"])
            #expect(try full.next(until: monotonicSeconds() + 5)?.topic == "seismote/s1/event/last")
        }
    }

    /// A subscription that nobody waits for and that the broker refuses ends the connection with its name.
    @Test func aRefusedWishIsNamed() throws {
        let broker = try Broker(
            "plugin /usr/lib/\(machine)-linux-gnu/mosquitto_dynamic_security.so\nplugin_opt_config_file %/accounts.json",
            files: [
                "accounts.json": """
                {"defaultACLAccess": {"publishClientSend": true, "publishClientReceive": true, "subscribe": false,
                "unsubscribe": true}, "clients": [], "groups": [], "roles": []}
                """
            ])
        var access = ConnectionOptions(brokers: [.init(host: "127.0.0.1", port: broker.port, tls: false)])
        access.connectTimeout = 10
        let client = BrokerClient(access)
        try client.connect()
        try client.ask(for: ["seismote/denied"])
        let error = #expect(throws: ClientError.self) {
            for _ in 0..<5 { _ = try client.next(until: monotonicSeconds() + 1) }
        }
        withExtendedLifetime(broker) {
            #expect(error?.description.contains("seismote/denied") == true, "\(String(describing: error))")
        }
    }

    private static func limited(
        _ configuration: String, _ version: MQTTVersion, _ change: (inout ConnectionOptions) -> Void = { _ in }
    ) throws -> (broker: Broker, client: BrokerClient) {
        let broker = try Broker(configuration)
        var access = ConnectionOptions(brokers: [.init(host: "127.0.0.1", port: broker.port, tls: false)])
        (access.connectTimeout, access.mqtt.protocolVersion) = (10, version == .v5 ? .v5 : .v311)
        change(&access)
        return (broker, BrokerClient(access))
    }

    /// A defect: the network's detector, which has a retained last will, never came in; and no program could say anything
    /// to a broker of QoS 0.
    @Test(arguments: [
        ("retain_available false", MQTTVersion.v5), ("retain_available false", .v311), ("max_qos 0", .v5),
        ("max_qos 0", .v311), ("retain_available false\nmax_qos 0", .v5), ("retain_available false\nmax_qos 0", .v311),
    ])
    func brokersWithoutRetainedMessagesOrQoS1AreUsed(limits: String, version: MQTTVersion) throws {
        let (broker, client) = try Self.limited(limits, version) {
            ($0.clientID, $0.isClean, $0.sessionExpiry) = ("detector", false, 60)
            $0.will = .init(topic: "seismote/network/status", payload: Array("gone".utf8))
        }
        try withExtendedLifetime(broker) {
            try client.connect()
            #expect(client.version == version)
            #expect(client.retains == !limits.contains("retain"))
            #expect(client.hasQoS1 == !limits.contains("qos"))
            try client.subscribe(["seismote/a"])
            try client.publish("seismote/a", [1, 2, 3], retain: true)
            #expect(try client.next(until: monotonicSeconds() + 5)?.payload == [1, 2, 3])
        }
    }

    /// A tool without a last will, at the same brokers; with MQTT 5 they say their limits.
    @Test(arguments: ["retain_available false", "max_qos 0"]) func aToolKeepsWithinTheLimits(limits: String) throws {
        let (broker, client) = try Self.limited(limits, .v5)
        try withExtendedLifetime(broker) {
            try client.connect()
            try client.subscribe(["seismote/a"])
            try client.publish("seismote/a", [4], retain: true)
            #expect(try client.next(until: monotonicSeconds() + 5)?.payload == [4])
        }
    }

    /// A message beyond the broker's limit is told from a connection that has ended: the next one goes on.
    @Test func aMessageThatIsTooLargeIsNamed() throws {
        let (broker, client) = try Self.limited("max_packet_size 500", .v5)
        try withExtendedLifetime(broker) {
            try client.connect()
            try client.subscribe(["seismote/a"])
            let error = #expect(throws: ClientError.self) {
                _ = try client.send("seismote/a", [UInt8](repeating: 65, count: 600))
            }
            #expect(error?.isTooLarge == true && error?.description.contains("seismote/a") == true)
            try client.publish("seismote/a", [5])
            #expect(try client.next(until: monotonicSeconds() + 5)?.payload == [5])
        }
    }

    /// A change of a station's settings is confirmed over a connection of the same options, while the first one is there.
    @Test func anotherClientOfTheSameOptionsIsAnotherConnection() throws {
        let (broker, client) = try Self.limited("", .v5)
        try withExtendedLifetime(broker) {
            try client.connect()
            let other = BrokerClient(client.options)
            try other.connect()
            try client.publish("seismote/a", [1])
            try other.publish("seismote/a", [2])
            try client.publish("seismote/a", [3])
        }
    }

    /// A broker that takes some client ids only says the same as of a wrong password: the name is in what is said of it, and
    /// can be given, or begins with that of the station.
    @Test(arguments: [MQTTVersion.v5, .v311]) func theClientIDIsNamedAndCanBeGiven(version: MQTTVersion) throws {
        let (broker, client) = try Self.limited("clientid_prefixes secure-", version)
        try withExtendedLifetime(broker) {
            let error = #expect(throws: ClientError.self) { try client.connect() }
            #expect(error?.description.contains("(client id seismote-ctl-") == true, "\(String(describing: error))")
            var access = client.options
            access.clientID = "secure-me"
            try BrokerClient(access).connect()
            access.clientID = ""
            var mqtt = MQTTConfiguration()
            mqtt.clientID = "secure-{id}"
            access.takeNames(of: mqtt, station: "basement")
            #expect(access.clientPrefix == "secure-basement-ctl")
            try BrokerClient(access).connect()
        }
    }
}
