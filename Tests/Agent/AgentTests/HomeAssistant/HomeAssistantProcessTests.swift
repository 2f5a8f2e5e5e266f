import Foundation
import TestSupport
import Testing

/// The real agent and a real mosquitto, with somebody who behaves like Home Assistant.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HomeAssistantProcessTests {
    static let topic = "homeassistant/device/seismote-board/config"

    @Test func itIsTellingAndTakesAwayWhatItTold() throws {
        let scene = try CommandProcessTests.Scene(
            "locked: [axes.y.detection.threshold]\nunlocked: [mqtt.home_assistant.prefix]")
        let told = try #require(
            scene.subscriber.first(within: 10) { $0.topic == Self.topic && $0.text.contains(#""model":"quiet""#) })
        #expect(told.contentType == "application/json")
        let entities = try #require(told.json["components"] as? [String: [String: Any]])
        #expect(entities["threshold_x"]?.count ?? 0 > 5 && entities["threshold_y"]?.count == 1)

        // A refused value: the configuration is said again, the same as before.
        let states = scene.subscriber.messages(on: "seismote/board/state/config").count
        try scene.send("config", #"{"set":{"detection":{"sta_lta":{"on":1.25}}},"source":"Home Assistant"}"#)
        #expect(eventually { scene.subscriber.messages(on: "seismote/board/state/config").count > states })
        let config = scene.subscriber.messages(on: "seismote/board/state/config").last?.json ?? [:]
        #expect(CommandProcessTests.value(config, "config", "detection", "sta_lta", "on") as? Double == 3)

        // A birth: all of it again.
        let before = scene.subscriber.messages.count
        let client = try ChildProcess(
            "/usr/bin/mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(scene.broker.port)", "-q", "1", "-t", "homeassistant/status", "-m", "online"])
        #expect(client.wait(within: 10) == 0)
        #expect(
            eventually(within: 20) {
                let new = Set(scene.subscriber.messages.dropFirst(before).map(\.topic))
                return new.isSuperset(of: [Self.topic, "seismote/board/state/online", "seismote/board/state/info"])
            })

        // Another form: the old one is emptied once, and a birth does not empty it again.
        _ = try scene.ask("config", #""set":{"mqtt":{"home_assistant":{"discovery":"components"}}}"#)
        let number = "homeassistant/number/seismote-board/threshold_x/config"
        #expect(scene.subscriber.first(within: 20) { $0.topic == number } != nil)
        let online = scene.subscriber.messages(on: "seismote/board/state/online").count
        _ = try scene.ask("rebirth")
        #expect(eventually { scene.subscriber.messages(on: "seismote/board/state/online").count > online })
        #expect(eventually { scene.subscriber.messages(on: number).count > 1 })
        #expect(scene.subscriber.messages(on: Self.topic).count { $0.payload.isEmpty } == 1)

        // Another prefix, and off.
        _ = try scene.ask("config", #""set":{"mqtt":{"home_assistant":{"prefix":"house"}}}"#)
        let moved = "house/number/seismote-board/threshold_x/config"
        #expect(scene.subscriber.first(within: 20) { $0.topic == moved && !$0.payload.isEmpty } != nil)
        #expect(scene.subscriber.messages(on: number).last?.payload.isEmpty == true)
        _ = try scene.ask("config", #""set":{"mqtt":{"home_assistant":{"enabled":false}}}"#)
        #expect(scene.subscriber.first(within: 20) { $0.topic == moved && $0.payload.isEmpty } != nil)
        var kept: [String: Data] = [:]
        #expect(
            eventually {
                for message in scene.subscriber.messages { kept[message.topic] = message.payload }
                return kept.filter { $0.key.hasPrefix("house/") && !$0.value.isEmpty }.isEmpty
            })
    }

    /// The broker forbids all of it: a topic is named, and everything else goes on, over the first connection.
    @Test func withoutTheRightToTellTheStationWorksOn() throws {
        let broker = try Broker("acl_file %/acl", files: ["acl": "topic readwrite seismote/#\n"])
        let scene = try CommandProcessTests.Scene(broker: broker)
        func named(_ topic: String) -> Bool {
            scene.agent.child.errors.split(separator: "\n").contains {
                $0.contains("the broker refused a message") && $0.contains("topic=\(topic) ")
            }
        }
        func refused() -> Int {
            CommandProcessTests.value(scene.health(), "mqtt", "refused", "135") as? Int ?? 0
        }
        #expect(eventually { named(Self.topic) }, "\(scene.agent.child.errors)")
        #expect(eventually { refused() >= 1 }, "\(scene.health())")
        // Thirty more of them: they are held back, and one alone is tried.
        let done = try scene.ask("config", #""set":{"mqtt":{"home_assistant":{"discovery":"components"}}}"#)
        #expect(done["phase"] as? String == "done", "\(done)")
        #expect(eventually(within: 30) { refused() >= 2 }, "\(scene.health())")
        #expect(refused() < 20, "\(scene.health())")
        let traces = scene.subscriber.messages(on: "seismote/board/data/trace").count
        #expect(eventually { scene.subscriber.messages(on: "seismote/board/data/trace").count > traces + 5 })
        #expect(try scene.ask("config", #""set":{"trace":{"rate_hz":10}}"#)["phase"] as? String == "done")
        #expect(scene.health()["alerts"] as? [String] == [], "\(scene.health())")
        #expect(CommandProcessTests.value(scene.health(), "mqtt", "connects") as? Int == 1)
        #expect(!scene.subscriber.messages.contains { $0.topic.hasPrefix("homeassistant/") })
    }

    /// The settings file has another id now.
    @Test func anotherIdAtTheNextStartTakesTheOldOneAway() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(port: broker.port)
        let folder = try TemporaryFolder()
        func agent(_ id: String) throws -> AgentProcess {
            try AgentProcess(
                settings: """
                    station: {id: \(id)}
                    sensor: {driver: simulate, simulate: {scenario: quiet}}
                    mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)", protocol: 5, reconnect: {min_s: 0.1, max_s: 0.5}}
                    storage: {directory: "\(folder.path("state"))"}
                    """)
        }
        do {
            let first = try agent("board")
            #expect(subscriber.first(within: 20) { $0.topic == Self.topic } != nil, "\(first.child.errors)")
            first.child.signal(SIGTERM)
            _ = first.child.wait(within: 10)
        }
        let second = try agent("other")
        #expect(
            subscriber.first(within: 20) { $0.topic == Self.topic && $0.payload.isEmpty } != nil,
            "\(second.child.errors)")
        #expect(
            subscriber.first(within: 20) {
                $0.topic == "homeassistant/device/seismote-other/config" && !$0.payload.isEmpty
            } != nil)
    }
}
