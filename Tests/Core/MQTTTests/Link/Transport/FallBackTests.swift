import Foundation
import Messages
import TestSupport
import Testing

@testable import MQTT

@Suite(.serialized, .timeLimit(.minutes(10))) struct FallBackTests {
    @Test(arguments: OldBroker.Manner.allCases) func aBrokerWithout5IsSpokenToIn311(manner: OldBroker.Manner) throws {
        let broker = try Broker()
        let old = try OldBroker(manner, broker: broker.port)
        let board = try RealLink(port: old.port) { $0.connection.connectTimeout = manner == .silence ? 1 : 10 }
        board.publish("e/trigger", "x", .essential)
        #expect(board.acked(2))
        #expect(board.link.statistics.version == .v311)
        // Where it hung up or was silent: twice, and once more to be sure, when 3.1.1 was accepted.
        let attempts = manner == .close || manner == .silence ? 3 : 1
        #expect(old.attempts == attempts)
        #expect(board.reports.contains(.fallingBack(BrokerAddress(host: "127.0.0.1", port: old.port, tls: false))))
        // It is remembered.
        broker.kill()
        #expect(board.disconnected())
        try broker.start()
        #expect(board.connected())
        #expect(old.attempts == attempts)
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
            $0.connection.mqtt.protocolVersion = .v311
            $0.connection.mqtt.keepalive = 5
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
        let board = try RealLink(port: broker.port) { $0.connection.mqtt.willDelay = 15 }
        #expect(board.acked(1))
        let twin = try RealLink(port: broker.port) {
            $0.connection.mqtt.willDelay = 15
            $0.connection.mqtt.reconnectMinimum = 30
            $0.connection.mqtt.reconnectMaximum = 30
        }
        // The twin has the same client id: the broker hangs up on the first, which comes back and throws the twin out.
        #expect(twin.connected())
        #expect(eventually { board.link.statistics.connects >= 2 })
        #expect(listener.first(within: 1) { $0.text == "offline" } == nil)
        gate.kill()
    }

    private static func families(_ name: String) -> Set<Int32> {
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, nil, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: Set<Int32> = []
        var next = first
        while let entry = next {
            found.insert(entry.pointee.ai_family)
            next = entry.pointee.ai_next
        }
        return found
    }

    /// A name with an address of IPv6 where something takes the connection and never answers, as behind many a router.
    /// Only where `localhost` has both, as on Debian.
    @Test(.enabled(if: families("localhost").contains(AF_INET6))) func aDeadAddressOfIPv6IsNotAllThereIs() throws {
        let broker = try Broker()
        let silent = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                "import socket\ns=socket.socket(socket.AF_INET6)\ns.setsockopt(socket.IPPROTO_IPV6,socket.IPV6_V6ONLY,1)\n"
                    + "s.bind(('::1',\(broker.port)))\ns.listen(50)\nkeep=[]\nprint('ready',flush=True)\n"
                    + "while True: keep.append(s.accept())",
            ])
        #expect(eventually { silent.output.contains("ready") })
        let board = try RealLink(port: broker.port) {
            $0.connection.brokers = [BrokerAddress(host: "localhost", port: broker.port, tls: false)]
            $0.connection.connectTimeout = 1
        }
        #expect(board.connected())
        #expect(board.link.statistics.failedAttempts >= 1)
        broker.kill()
        #expect(board.disconnected())
        try broker.start()
        #expect(board.connected())
    }

    @Test func aNameThatCannotBeResolvedIsTriedAgain() throws {
        let effort = LinkEffort()
        let board = try RealLink(port: 1883) {
            $0.connection.brokers = [BrokerAddress(host: "nowhere.invalid", port: 1883, tls: false)]
        }
        #expect(eventually(within: 30) { board.link.statistics.failedAttempts >= 3 })
        guard case .disconnected(_, let reason, _) = board.reports.last(where: { $0 != board.reports.last }) else {
            return
        }
        print("a name that cannot be resolved: \(reason)")
        #expect(!reason.isEmpty && reason != "Success")
        #expect(effort.isBelow(0.5))
    }
}
