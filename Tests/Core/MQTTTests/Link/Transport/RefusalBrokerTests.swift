import Foundation
import Messages
import TestSupport
import Testing

@testable import MQTT

/// Rights that are missing, and that come and go, with a real mosquitto.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RefusalBrokerTests {
    private static let base = "seismote/board"

    private static func link(
        _ port: Int, _ version: MQTTVersion, checks: Bool = false
    ) throws -> RealLink {
        try RealLink(port: port) {
            ($0.connection.mqtt.protocolVersion, $0.base, $0.connection.mqtt.username) = (.init(version), base, "board")
            $0.keepsEssential = true
            guard checks else { return }
            var check = LinkOptions.SelfCheck()
            check.echoTopics = ["\(base)/state/online"]
            check.probes = [.init(filter: "\(base)/event/+", topic: "\(base)/event/selfcheck")]
            $0.selfCheck = check
        }
    }

    /// A defect: the broker hung up with each connection, before any event.
    @Test(arguments: BrokerTests.versions) func aBrokerThatHangsUpOnADeniedTopicGetsTheEvents(
        version: MQTTVersion
    ) throws {
        let broker = try Broker(
            "max_queued_messages 0\nacl_file %/acl",
            files: ["acl": "topic read #\npattern write seismote/%u/#\npattern read seismote/%u/cmd/#\n"])
        let listener = try Subscriber(port: broker.port, ["seismote/#"])
        let board = try Self.link(broker.port, version)
        let keeper = ArrayKeeper(board.link)
        defer { keeper.end() }
        board.publish("homeassistant/device/board/config", "{}", retain: true, .essential)
        board.publish("\(Self.base)/event/last", "last", retain: true, .essential)
        for index in 0..<20 {
            board.publish("\(Self.base)/event/trigger", "\(index)", .essential)
            Thread.sleep(forTimeInterval: 0.3)
        }
        for index in 0..<20 { #expect(listener.first { $0.text == "\(index)" } != nil, "\(index)") }
        #expect(eventually { board.link.statistics.held.contains { $0.topic == "homeassistant/#" && $0.breaks } })
        // (Every 0.1 to 0.5 s before.)
        #expect(board.link.statistics.connects <= 9)
        #expect(!board.reports.contains(.abandoned(topic: "\(Self.base)/event/last")))
    }

    /// A defect: what was refused once never came. With 3.1.1 it counted as acknowledged.
    @Test(arguments: BrokerTests.versions) func rightsThatComeBackBringTheEvents(
        version: MQTTVersion
    ) throws {
        let wide = "topic readwrite #\n"
        let broker = try Broker(
            "acl_file %/acl", files: ["acl": wide + "user board\ntopic readwrite \(Self.base)/state/#\n"])
        let listener = try Subscriber(port: broker.port, ["\(Self.base)/event/trigger"])
        let board = try Self.link(broker.port, version, checks: true)
        let keeper = ArrayKeeper(board.link, keepsTopics: true)
        defer { keeper.end() }
        #expect(board.connected())
        if version == .v311 {
            #expect(eventually(within: 20) { board.link.statistics.deniedTopics == ["\(Self.base)/event/+"] })
        }
        for index in 0..<30 { board.publish("\(Self.base)/event/trigger", "\(index)", .essential) }
        #expect(eventually { keeper.state.withLock { $0.away.count == 30 } })
        // (Said at the end of the step in which they were given back.)
        #expect(eventually { !board.link.statistics.deniedTopics.isEmpty })
        try broker.folder.write("acl", wide + "user board\ntopic readwrite \(Self.base)/#\n")
        broker.reload()
        // The second or third trial: after 5, 10 or 20 s.
        #expect(eventually(within: 50) { listener.messages.filter { !$0.text.isEmpty }.count == 30 })
        let numbers: [String] = (0..<30).map { "\($0)" }
        #expect(listener.messages.map(\.text) == numbers)
        #expect(eventually { keeper.state.withLock { $0.disk.isEmpty } })
        #expect(board.link.statistics.connects == 1)
        #expect(eventually { board.link.statistics.deniedTopics.isEmpty })
    }

    /// A defect: nothing but "the connection was lost", as often as the pauses allow.
    @Test(arguments: BrokerTests.versions) func twoWithOneIdNoticeItAndSlowDown(
        version: MQTTVersion
    ) throws {
        let broker = try Broker()
        let info = "\(Self.base)/state/info"
        let both = try ["one", "two"].map { name in
            let board = try RealLink(port: broker.port) {
                $0.connection.mqtt.protocolVersion = .init(version)
                var check = LinkOptions.SelfCheck()
                (check.commandTopic, check.echoTopics) = ("\(Self.base)/cmd/selfcheck", [info])
                (check.identityTopic, check.identity) = (info, Array(name.utf8))
                $0.selfCheck = check
            }
            board.publish(info, "this is \(name)", retain: true, .essential)
            return board
        }
        #expect(eventually(within: 30) { both.allSatisfy { $0.link.statistics.duplicate?.isSure == true } })
        // The longest pause is five times the usual one of 0.5 s, for both: each takes the other's place after one of these.
        #expect(
            eventually(within: 60) {
                both.allSatisfy { board in
                    board.reports.contains { if case .disconnected(_, _, let pause) = $0 { pause > 1 } else { false } }
                }
            })
        // One goes.
        _ = both[1].link.stop(within: 2)
        #expect(both[0].connected())
        #expect(eventually(within: 20) { both[0].link.statistics.duplicate == nil })
    }
}
