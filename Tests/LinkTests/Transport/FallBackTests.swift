import Foundation
import Messages
import TestSupport
import Testing

@testable import Link

@Suite(.serialized, .timeLimit(.minutes(2))) struct FallBackTests {
    @Test(arguments: OldBroker.Manner.allCases) func aBrokerWithout5IsSpokenToIn311(manner: OldBroker.Manner) throws {
        let broker = try Broker()
        let old = try OldBroker(manner, broker: broker.port)
        let board = try RealLink(port: old.port)
        board.publish("e/trigger", "x", .essential)
        #expect(board.acked(2))
        #expect(board.link.statistics.version == .v311)
        #expect(old.attempts == (manner == .close ? 2 : 1))
        #expect(board.reports.contains(.fallingBack(BrokerAddress(host: "127.0.0.1", port: old.port, tls: false))))
        // It is remembered.
        broker.kill()
        #expect(board.disconnected())
        try broker.start()
        #expect(board.connected())
        #expect(old.attempts == (manner == .close ? 2 : 1))
    }

    @Test func aBrokerWith5IsSpokenToIn5() throws {
        let broker = try Broker()
        let board = try RealLink(port: broker.port)
        #expect(board.connected())
        #expect(board.link.statistics.version == .v5)
    }

    /// The connection hangs half-way, as when a router forgets it: 7.5 s with a keepalive of 5 s.
    @Test func aHalfOpenConnectionIsFoundWithin1Point5TimesTheKeepalive() throws {
        let broker = try Broker()
        let gate = try OldBroker(.close, broker: broker.port)
        let board = try RealLink(port: gate.port) {
            $0.version = .v311
            $0.keepalive = 5
        }
        #expect(board.connected())
        gate.freeze()
        let began = ProcessInfo.processInfo.systemUptime
        for index in 0..<10 { board.publish("e/trace", "\(index)") }
        #expect(board.disconnected(within: 15))
        let found = ProcessInfo.processInfo.systemUptime - began
        print("half-open connection found after \(found) s with a keepalive of 5 s")
        #expect(found < 8.5)
        #expect(board.link.statistics.halfOpen == 1)
        gate.thaw()
        #expect(board.acked(11))
    }

    /// A connection that comes back within the delay of the last will leaves no trace of having been away.
    @Test func whoComesBackInTimeWasNeverOffline() throws {
        let broker = try Broker()
        let gate = try OldBroker(.close, broker: broker.port)
        let listener = try Subscriber(port: broker.port)
        // Straight to the broker first, so that the session is one of MQTT 5; cut by the broker itself.
        let board = try RealLink(port: broker.port) { $0.presence.willDelay = 15 }
        #expect(board.acked(1))
        let twin = try RealLink(port: broker.port) {
            $0.presence.willDelay = 15
            $0.reconnectMinimum = 30
            $0.reconnectMaximum = 30
        }
        // The twin has the same client id: the broker hangs up on the first, which comes back and throws the twin out.
        #expect(twin.connected())
        #expect(eventually { board.link.statistics.connects >= 2 })
        #expect(listener.first(within: 1) { $0.text == "offline" } == nil)
        gate.kill()
    }
}
