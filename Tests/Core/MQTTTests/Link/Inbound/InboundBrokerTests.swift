import Foundation
import Messages
import TestSupport
import Testing

@testable import MQTT

@Suite(.serialized, .timeLimit(.minutes(10))) struct InboundBrokerTests {
    private static func checked(_ port: Int, _ version: MQTTVersion) throws -> RealLink {
        try RealLink(port: port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.connection.mqtt.username = "board"
            var check = LinkOptions.SelfCheck()
            check.commandTopic = "seismote/board/cmd/selfcheck"
            check.echoTopics = ["seismote/board/state/online"]
            $0.selfCheck = check
        }
    }

    private static func findings(_ board: RealLink) -> [String: SelfCheckFinding.Outcome] {
        #expect(eventually(within: 20) { !board.link.statistics.selfCheck.isEmpty })
        return Dictionary(board.link.statistics.selfCheck.map { ($0.topic, $0.outcome) }) { $1 }
    }

    private static let online = "seismote/board/state/online"
    private static let command = "seismote/board/cmd/selfcheck"

    @Test(arguments: BrokerTests.versions) func anOpenBrokerIsVerifiedAtOnce(version: MQTTVersion)
        throws
    {
        let broker = try Broker()
        let watch = Stopwatch()
        let findings = try Self.findings(Self.checked(broker.port, version))
        #expect(watch.seconds < 5)
        #expect(
            findings
                == (version == .v5 ? [Self.command: .verified] : [Self.command: .verified, Self.online: .verified]))
    }

    /// The rights that the documentation recommends.
    @Test(arguments: BrokerTests.versions) func theRecommendedRightsRaiseNoAlarm(
        version: MQTTVersion
    ) throws {
        let broker = try Broker(
            "acl_file %/acl",
            files: ["acl": "pattern write seismote/%u/state/#\npattern read seismote/%u/cmd/#\n"])
        let board = try Self.checked(broker.port, version)
        let findings = Self.findings(board)
        #expect(findings[Self.command] == .unverifiable)
        if version == .v311 { #expect(findings[Self.online] == .unverifiable) }
        #expect(board.link.statistics.deniedTopics == [])
        #expect(board.link.statistics.refused == [])
    }

    @Test func a311BrokerThatThrowsOurStateAwayIsFoundOut() throws {
        let broker = try Broker(
            "acl_file %/acl",
            files: ["acl": "topic readwrite #\nuser board\ntopic read seismote/board/state/#\n"])
        let other = try RealLink(port: broker.port, id: "other")
        other.publish(Self.online, "offline", retain: true, .state)
        #expect(other.acked(2))
        let board = try Self.checked(broker.port, .v311)
        #expect(Self.findings(board)[Self.online] == .denied)
        #expect(board.link.statistics.deniedTopics == [Self.online])
    }

    @Test func with5TheRefusedTopicIsNamed() throws {
        let broker = try Broker(
            "acl_file %/acl", files: ["acl": "user board\ntopic write seismote/board/state/#\n"])
        let board = try Self.checked(broker.port, .v5)
        board.publish("seismote/board/data/trace", "x")
        #expect(eventually { board.link.statistics.deniedTopics == ["seismote/board/data/trace"] })
    }

    @Test func commandsThatMayBeWrittenButNotReadAreFoundOut() throws {
        let broker = try Broker(
            "acl_file %/acl",
            files: ["acl": "user board\ntopic write seismote/board/state/#\ntopic write seismote/board/cmd/#\n"])
        #expect(try Self.findings(Self.checked(broker.port, .v5))[Self.command] == .denied)
    }

    @Test(arguments: BrokerTests.versions) func messagesArrive(version: MQTTVersion) throws {
        let broker = try Broker()
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.subscriptions = ["seismote/board/cmd/+"]
            $0.connection.inboundBytes = 1000
        }
        let other = try RealLink(port: broker.port, id: "other")
        #expect(eventually { board.link.statistics.connected && other.link.statistics.connected })
        other.publish("seismote/board/cmd/ping", "{}")
        // A broker with 5 is told not to send what is much larger.
        other.publish("seismote/board/cmd/large", String(repeating: "x", count: 2000))
        #expect(eventually { board.received.count == 2 })
        #expect(board.received.first?.topic == "seismote/board/cmd/ping")
        #expect(board.received.first?.payload == Array("{}".utf8))
        #expect(board.received.first?.contentType == (version == .v5 ? "application/json" : nil))
        #expect(board.received.last?.isTooLarge == true && board.received.last?.size == 2000)
        // Still there after the broker was away.
        broker.kill()
        #expect(board.disconnected())
        try broker.start()
        #expect(eventually(within: 15) { board.link.statistics.connected && other.link.statistics.connected })
        // The subscription may come a little after the connection.
        #expect(
            eventually {
                other.publish("seismote/board/cmd/again", "{}")
                return eventually(within: 0.5) { board.received.last?.topic == "seismote/board/cmd/again" }
            })
    }

    @Test func anAnswerCanBeGiven() throws {
        let broker = try Broker()
        let board = try RealLink(port: broker.port) { $0.subscriptions = ["seismote/board/cmd/+"] }
        #expect(board.connected())
        let asked = try ChildProcess(
            "/usr/bin/mosquitto_pub",
            [
                "-p", "\(broker.port)", "-V", "mqttv5", "-q", "1", "-t", "seismote/board/cmd/status", "-m", "{}", "-D",
                "publish", "response-topic", "replies/me", "-D", "publish", "correlation-data", "abc",
            ])
        #expect(asked.wait(within: 10) == 0)
        #expect(eventually { board.received.count == 1 })
        #expect(board.received.first?.responseTopic == "replies/me")
        #expect(board.received.first?.correlation == Array("abc".utf8))
    }
}
