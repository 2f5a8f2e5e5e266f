import Messages
import TestSupport
import Testing

@testable import MQTT

/// Brokers of MQTT 5 that want something unusual of their clients.
@Suite struct OddBrokerTests {
    private static func link(_ broker: OddBroker, _ change: (inout LinkOptions) -> Void = { _ in }) throws -> RealLink {
        let link = try RealLink(port: broker.port) { options in
            options.subscriptions = ["seismote/board/cmd/#"]
            change(&options)
        }
        #expect(link.connected())
        return link
    }

    @Test(arguments: [1, 2, 7]) func neverMoreAreOnTheirWayThanTheBrokerReceives(count: Int) throws {
        let broker = try OddBroker(
            properties: "2100\(count < 16 ? "0" : "")\(String(count, radix: 16))", receives: count)
        let link = try Self.link(broker)
        for number in 0..<40 { link.publish("seismote/board/data/trace", "\(number)") }
        // (And the presence.)
        #expect(link.acked(41))
        #expect(broker.faults == [] && broker.connections == 1)
    }

    @Test func whatIsLargerThanTheBrokerTakesIsCountedAndTheRestArrives() throws {
        let broker = try OddBroker(properties: "2700000078", bytes: 120)
        let link = try Self.link(broker)
        for number in 0..<20 {
            link.publish("seismote/board/data/trace", number % 2 == 0 ? "x" : String(repeating: "y", count: 200))
        }
        #expect(link.acked(11))
        #expect(eventually(within: 10) { link.link.statistics.tooLarge == 10 }, "\(link.link.statistics.tooLarge)")
        #expect(broker.faults == [] && broker.connections == 1)
    }

    /// The keepalive that a broker names counts, not ours.
    @Test func aShorterKeepaliveOfTheBrokerIsKept() throws {
        let broker = try OddBroker(properties: "130002")
        let link = try Self.link(broker) { $0.connection.mqtt.keepalive = 600 }
        #expect(eventually(within: 15) { broker.pings >= 2 })
        #expect(broker.connections == 1 && link.link.statistics.connected)
    }

    /// Each property that a CONNACK to a named client may have: session expiry 0, receive maximum 3, QoS 1, topic
    /// aliases, a reason, a user property, no wildcards, no subscription identifiers, no shared subscriptions, keepalive,
    /// response information, another server.
    @Test(arguments: ["", "slow"]) func everyPropertyIsTaken(manner: String) throws {
        let broker = try OddBroker(
            flags: 1,
            properties: "1100000000" + "210003" + "2401" + "22000a" + "1f00026f6b" + "26000161000162"
                + "2800" + "2900" + "2a00" + "13003c" + "1a00022f72" + "1c000161",
            receives: 3, manner: manner)
        let link = try Self.link(broker)
        for number in 0..<10 { link.publish("seismote/board/data/trace", "\(number)") }
        #expect(link.acked(11))
        #expect(broker.faults == [] && broker.connections == 1)
    }

    /// Messages do not wait for the answer to a subscription, which may never come.
    @Test func aBrokerThatAnswersNoSubscriptionGetsItsMessages() throws {
        let broker = try OddBroker(manner: "deaf")
        let link = try Self.link(broker)
        for number in 0..<10 { link.publish("seismote/board/data/trace", "\(number)") }
        #expect(link.acked(11))
        #expect(broker.connections == 1)
    }
}
