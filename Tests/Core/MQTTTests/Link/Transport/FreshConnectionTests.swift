import Foundation
import Messages
import TestSupport
import Testing

@testable import MQTT

/// What a broker said of itself in one connection has no meaning for the next: it may have other settings by then.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FreshConnectionTests {
    /// The library keeps each of these in its handle until a broker says something else, and a broker without a limit says
    /// nothing: nothing larger, nothing with QoS 1 and nothing retained ever arrived again.
    @Test(arguments: ["max_packet_size 1000", "max_qos 0", "retain_available false"])
    func limitsThatWereTakenOutOfTheBrokersConfigurationAreGone(limit: String) throws {
        let broker = try Broker(limit)
        let board = try RealLink(port: broker.port)
        #expect(board.connected())
        #expect(eventually { board.link.statistics.published >= 1 })
        broker.kill()
        #expect(board.disconnected())
        broker.reconfigure("")
        let earlier = board.link.statistics
        try broker.start()
        // `online`: what is acknowledged from now on is the event.
        #expect(board.acked(earlier.acked + 1))
        let before = board.link.statistics
        board.publish("e/event", String(repeating: "x", count: 3000), retain: true, .essential)
        #expect(board.acked(before.acked + 1), "\(board.link.statistics)")
        #expect(board.link.statistics.tooLarge == 0)
        #expect(board.link.statistics.refused.isEmpty)
        let late = try Subscriber(port: broker.port, ["e/#"])
        let event = try #require(late.first { $0.topic == "e/event" })
        #expect(event.retained && event.payload.count == 3000)
    }

    /// A broker with one of these refuses a last will that asks for more, and with it the connection: it never came up.
    @Test(arguments: ["max_qos 0", "retain_available false", "max_qos 0\nretain_available false"])
    func aBrokerThatTakesNoSuchWillIsConnectedToWithALesserOne(limit: String) throws {
        let broker = try Broker(limit)
        let listener = try Subscriber(port: broker.port, ["seismote/board/state/online"])
        let board = try RealLink(port: broker.port)
        #expect(listener.first { $0.text == "online" } != nil)
        #expect(board.connected())
        // Another client of the same name takes the connection over, at which the last will is published.
        let twin = try RealLink(port: broker.port)
        #expect(eventually { twin.link.statistics.connects >= 1 })
        #expect(listener.first { $0.text == "offline" } != nil)
    }

    /// Messages that were on their way stay with nobody when the handle goes: they are sent again, in their order.
    @Test(arguments: BrokerTests.versions) func whatWasOnItsWayIsSentAgain(version: MQTTVersion) throws {
        let broker = try Broker()
        let board = try RealLink(port: broker.port) { $0.connection.mqtt.protocolVersion = .init(version) }
        #expect(board.acked(1))
        broker.freeze()
        for index in 0..<50 { board.publish("e/event", "\(index)", .essential) }
        #expect(eventually { board.link.statistics.inFlight == LinkCore.defaultWindow })
        broker.kill()
        #expect(board.disconnected())
        try broker.start()
        let listener = try Subscriber(port: broker.port, ["e/#"])
        #expect(board.acked(52))
        #expect(board.link.statistics.queueMessages == 0 && board.link.statistics.inFlight == 0)
        // The subscriber may come after the first of them, and hears the last some time after the broker has it.
        func all() -> [Int] { listener.messages.compactMap { Int($0.text) } }
        _ = eventually { all().last == 49 }
        let heard = all()
        #expect(heard == Array((50 - heard.count)..<50))
    }

    /// The first attempt of a handle used to wait in the kernel until the peer answered, and nothing else was done
    /// meanwhile: not even a stop.
    @Test func anAddressThatDoesNotAnswerHoldsNothingUp() throws {
        // Its queue of connections is full, so that the kernel answers no more.
        let silent = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                "import socket\ns=socket.socket()\ns.bind(('127.0.0.1',0))\ns.listen(0)\nkeep=[]\nfor i in range(8):\n"
                    + " c=socket.socket()\n c.setblocking(False)\n c.connect_ex(s.getsockname())\n keep.append(c)\n"
                    + "print(s.getsockname()[1],flush=True)\nimport time\ntime.sleep(60)",
            ])
        #expect(eventually { silent.output.contains("\n") })
        let port = try #require(Int(silent.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        let board = try RealLink(port: port) { $0.connection.connectTimeout = 30 }
        #expect(eventually { board.attempts == 1 })
        let began = ContinuousClock.now
        #expect(board.link.stop(within: 5))
        #expect(ContinuousClock.now - began < .seconds(2))
    }
}
