import Foundation
import Messages
import TestSupport
import Testing

@testable import MQTT

/// The link against a real mosquitto. One at a time: some of them measure times.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BrokerTests {
    static let versions: [MQTTVersion] = [.v5, .v311]

    @Test(arguments: versions) func aLateSubscriberLearnsTheState(version: MQTTVersion) throws {
        let broker = try Broker()
        let board = try RealLink(port: broker.port) { $0.connection.mqtt.protocolVersion = .init(version) }
        let base = "seismote/board/state"
        board.publish("\(base)/summary", "s", qos: 0, retain: true, .state)
        board.publish("\(base)/info", "i", retain: true, .essential)
        board.publish("\(base)/config", "c", retain: true, .essential)
        #expect(board.acked(3))
        let late = try Subscriber(port: broker.port, ["seismote/#"])
        #expect(eventually { late.messages.count >= 4 })
        let heard = Dictionary(late.messages.map { ($0.topic, $0.text) }) { $1 }
        #expect(
            heard == ["\(base)/online": "online", "\(base)/info": "i", "\(base)/config": "c", "\(base)/summary": "s"])
        #expect(late.messages.allSatisfy { $0.retained })
        let kind = late.messages(on: "\(base)/info").first?.contentType
        #expect(kind == (version == .v5 ? "application/json" : nil))
        #expect(late.messages(on: "\(base)/online").first?.contentType == (version == .v5 ? "text/plain" : nil))
    }

    @Test func theBirthComesInOrderAndTheExpiryIsSaid() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let board = try RealLink(port: broker.port)
        let base = "seismote/board/state"
        for name in ["health", "summary", "config/schema", "config", "info"] {
            board.publish("\(base)/\(name)", name, retain: true, .state)
        }
        board.publish("seismote/board/event/trigger", "onset", expiry: 3600, .essential)
        #expect(board.acked(7))
        #expect(listener.first { $0.text == "onset" }?.expiry == 3600)
        // The order of the first connect is that of the threads; that of the second is ours alone.
        broker.kill()
        try broker.start()
        let again = try Subscriber(port: broker.port)
        #expect(again.first { $0.topic == "\(base)/health" } != nil)
        let live = again.messages.filter { !$0.retained }.map(\.topic)
        let retained = again.messages.filter(\.retained).map(\.topic)
        let order = ["online", "info", "config", "config/schema", "summary", "health"].map { "\(base)/\($0)" }
        #expect(live == Array(order.suffix(live.count)))
        #expect(Set(live + retained) == Set(order))
    }

    @Test(arguments: versions) func aKilledBrokerIsFoundAgainWithin5Seconds(version: MQTTVersion) throws {
        let broker = try Broker()
        // The defaults of the settings.
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.connection.mqtt.reconnectMinimum = 1
            $0.connection.mqtt.reconnectMaximum = 120
        }
        #expect(board.connected())
        for round in 0..<2 {
            broker.kill()
            #expect(board.disconnected(within: 5))
            try broker.start()
            let watch = Stopwatch()
            #expect(board.connected())
            print("found again after \(watch.seconds) s")
            #expect(watch.seconds < 5)
            // A connection that did not hold for three times the first pause counts as a failed attempt; the second round
            // is about one that did.
            if round == 0 { Thread.sleep(forTimeInterval: 3.1) }
        }
        #expect(board.link.statistics.connects == 3)
    }

    @Test(arguments: versions) func whatWasMadeOfflineArrivesInOrder(version: MQTTVersion) throws {
        let broker = try Broker()
        let gate = try OldBroker(nil, broker: broker.port)
        let board = try RealLink(port: gate.port) { $0.connection.mqtt.protocolVersion = .init(version) }
        #expect(board.connected())
        broker.kill()
        #expect(board.disconnected())
        gate.freeze()
        for index in 0..<500 { board.publish("seismote/board/data/trace", "\(index)") }
        try broker.start()
        let listener = try Subscriber(port: broker.port, ["seismote/board/data/#"])
        // (Before that the first of them, or all, could have come to nobody.)
        gate.thaw()
        #expect(board.acked(501))
        #expect(listener.first { $0.text == "499" } != nil)
        #expect(listener.messages.compactMap { Int($0.text) } == Array(0..<500))
        #expect(board.link.statistics.dropped.total == 0)
        // (`online` of the first connection may count as acknowledged as well.)
        #expect(eventually { board.link.statistics.queueBytes == 0 })
    }

    @Test func theOfflineQueueIsBoundedAndItsDropsAreCounted() throws {
        let broker = try Broker(started: false)
        let board = try RealLink(port: broker.port) {
            $0.queueMessages = 100
            $0.queueBytes = 1 << 20
        }
        for index in 0..<10 { board.publish("e/event", "event \(index)", .essential) }
        for index in 0..<300 { board.publish("e/trace", "trace \(index)", .trace) }
        #expect(eventually { board.link.statistics.dropped.trace == 210 })
        #expect(board.link.statistics.queueMessages == 100)
        #expect(board.link.statistics.dropped.essential == 0)
        try broker.start()
        #expect(board.acked(101))
        #expect(board.link.statistics.queueMessages == 0)
    }

    @Test func neverMoreUnacknowledgedThanTheBrokerAllows() throws {
        let broker = try Broker("max_inflight_messages 3")
        let listener = try Subscriber(port: broker.port, ["e/#"])
        let board = try RealLink(port: broker.port)
        for index in 0..<1000 { board.publish("e/trace", "\(index)") }
        #expect(board.acked(1001))
        #expect(board.link.statistics.inFlightPeak <= 3)
        #expect(listener.first { $0.text == "999" } != nil)
        let numbers: [String] = (0..<1000).map { "\($0)" }
        #expect(listener.messages.map(\.text) == numbers)
    }

    @Test func aMessageThatIsTooLargeForTheBrokerIsCountedAndNotSent() throws {
        let broker = try Broker("max_packet_size 2000")
        let board = try RealLink(port: broker.port)
        board.publish("e/large", String(repeating: "x", count: 3000))
        board.publish("e/small", "x")
        #expect(board.acked(2))
        #expect(board.link.statistics.tooLarge == 1)
        #expect(board.link.statistics.connects == 1)
    }

    @Test func withoutAWordFromTheBrokerATooLargeMessageIsGivenUpAfterThreeConnections() throws {
        let broker = try Broker("max_packet_size 2000")
        let board = try RealLink(port: broker.port) { $0.connection.mqtt.protocolVersion = .v311 }
        #expect(board.acked(1))
        board.publish("e/large", String(repeating: "x", count: 3000))
        #expect(eventually { board.link.statistics.abandoned == 1 })
        board.publish("e/small", "x")
        #expect(eventually { board.link.statistics.queueBytes == 0 && board.link.statistics.connected })
        // The connection carries all that comes now, one message after the other.
        let connects = board.link.statistics.connects
        for index in 0..<20 {
            let acked = board.link.statistics.acked
            board.publish("e/small", "\(index)")
            #expect(board.acked(acked + 1))
        }
        #expect(board.link.statistics.connects == connects)
    }

    @Test func aPublicationThatTheBrokerForbidsIsCountedByItsReason() throws {
        let broker = try Broker(
            "acl_file %/acl", files: ["acl": "topic readwrite seismote/board/state/#\ntopic readwrite good/#\n"])
        let board = try RealLink(port: broker.port)
        board.publish("bad/topic", "x")
        board.publish("good/topic", "x")
        #expect(board.acked(2))
        #expect(eventually { board.link.statistics.refused == [.init(reason: 135, count: 1, topic: "bad/topic")] })
        #expect(board.reports.contains(.refused(topic: "bad/topic", reason: 135)))
    }

    @Test func anOrderlyStopEmptiesTheQueueAndSaysOffline() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let board = try RealLink(port: broker.port) { $0.connection.mqtt.willDelay = 15 }
        #expect(board.connected())
        for index in 0..<200 { board.publish("e/trace", "\(index)") }
        let watch = Stopwatch()
        #expect(board.link.stop(within: 5))
        #expect(watch.seconds < 2)
        #expect(listener.first { $0.text == "offline" } != nil)
        let expected: [String] = ["online"] + (0..<200).map { String($0) } + ["offline"]
        #expect(listener.messages.map(\.text) == expected)
        // The last will is not published besides: what another client says now comes after it.
        let other = try RealLink(port: broker.port, id: "other")
        other.publish("e/after", "after")
        #expect(listener.first { $0.text == "after" } != nil)
        #expect(listener.messages.count { $0.text == "offline" } == 1)
        let late = try Subscriber(port: broker.port)
        #expect(late.first { $0.text == "offline" }?.retained == true)
    }
}
