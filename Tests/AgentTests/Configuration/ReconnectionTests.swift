import Foundation
import Link
import Messages
import Settings
import TestSupport
import Testing

@testable import Agent

/// Other settings of the connection in an agent without a sensor, with a real mosquitto.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReconnectionTests {
    /// What an agent has besides the sampling.
    private final class Bench {
        let folder: TemporaryFolder
        let link: Link
        let storage: StorageThread

        init(_ port: Int) throws {
            folder = try TemporaryFolder()
            let configuration = try Bench.configuration(port, folder)
            let topics = try Reconnection.topics(of: configuration)
            link = try Link(options: LinkOptions(configuration, topics: topics), report: { _ in })
            storage = try StorageThread(configuration, topics: topics, link: link, log: Log(level: .error))
            try storage.start()
            try link.start()
        }

        deinit {
            _ = link.stop(within: 2)
            _ = storage.stop(within: 2)
        }

        static func configuration(
            _ port: Int, _ folder: TemporaryFolder, root: String = "seismote"
        ) throws -> Configuration {
            let text =
                "station: {id: board}\nmqtt: {uri: \"mqtt://127.0.0.1:\(port)\", root: \(root), protocol: 5, "
                + "reconnect: {min_s: 0.1, max_s: 0.5}, will_delay_s: 0}\n"
                + "storage: {directory: \"\(folder.url.path)\"}\n"
            return try Settings.load(file: Array(text.utf8)).configuration
        }

        func change(_ port: Int, root: String = "seismote") throws -> UInt64 {
            let reconnection = try Reconnection(Self.configuration(port, folder, root: root))
            let said = reconnection.number(of: link)
            let number = try reconnection.apply(to: link, storage)
            #expect(number == said)
            return number
        }

        func publish(_ stream: Messages.Stream, _ topic: String, _ text: String) {
            Array(text.utf8).withUnsafeBytes { link.publish(stream.delivery.header(topic: topic), $0) }
        }

        func connected(after number: UInt64) -> Bool {
            eventually { link.statistics.connected && link.statistics.connections > number }
        }
    }

    @Test func stateMovesWithTheRootAndEventsGoWhereTheyWereAddressed() throws {
        let broker = try Broker()
        let bench = try Bench(broker.port)
        #expect(bench.connected(after: 0))
        bench.publish(.health, "seismote/board/state/health", "h")
        bench.publish(.trigger, "seismote/board/event/trigger", "1")
        let listener = try Subscriber(port: broker.port)
        let number = try bench.change(broker.port, root: "school/west")
        // As the pipeline does until the border of its block.
        bench.publish(.trigger, "seismote/board/event/trigger", "2")
        bench.publish(.summary, "seismote/board/state/summary", "s")
        #expect(bench.connected(after: number))
        bench.publish(.trigger, "school/west/board/event/trigger", "3")
        #expect(listener.first { $0.topic == "school/west/board/event/trigger" } != nil)
        #expect(listener.first { $0.topic == "school/west/board/state/summary" } != nil)
        #expect(eventually { bench.link.statistics.inFlight == 0 && bench.link.statistics.queueMessages == 0 })
        let late = try Subscriber(port: broker.port)
        #expect(eventually { late.messages.count { $0.retained } >= 4 })
        let heard = Dictionary(late.messages.filter(\.retained).map { ($0.topic, $0.text) }) { $1 }
        let state = "school/west/board/state"
        #expect(
            heard == [
                "seismote/board/state/online": "offline", "\(state)/online": "online", "\(state)/health": "h",
                "\(state)/summary": "s",
            ])
        let events = listener.messages.filter { $0.topic.hasSuffix("/event/trigger") }.map(\.text)
        #expect(events.filter { $0 != "1" } == ["2", "3"])
    }

    @Test func aWrongBrokerAndBackLosesNoEvent() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let bench = try Bench(broker.port)
        #expect(bench.connected(after: 0))
        let failed = bench.link.statistics.failedAttempts
        let wrong = try bench.change(try FreePort.find())
        #expect(eventually { bench.link.statistics.failedAttempts > failed })
        for index in 0..<50 { bench.publish(.trigger, "seismote/board/event/trigger", "\(index)") }
        let number = try bench.change(broker.port)
        #expect(number > wrong)
        #expect(bench.connected(after: number))
        #expect(listener.first { $0.text == "49" } != nil)
        let heard = listener.messages(on: "seismote/board/event/trigger").compactMap { Int($0.text) }
        #expect(heard == Array(0..<50))
    }

    @Test func theSameSettingsAgainAreNoReasonToConnectAnew() throws {
        let broker = try Broker()
        let bench = try Bench(broker.port)
        #expect(bench.connected(after: 0))
        let number = bench.link.statistics.connections
        let again = try bench.change(broker.port)
        #expect(again < number)
        Thread.sleep(forTimeInterval: 0.2)
        #expect(bench.link.statistics.connections == number)
    }

    @Test func settingsThatNoConnectionCanBeMadeWithAreRefused() throws {
        let folder = try TemporaryFolder()
        var configuration = try Bench.configuration(1883, folder)
        configuration.mqtt.root = "not/+/good"
        #expect(throws: AgentError.self) { try Reconnection(configuration) }
        configuration.mqtt.root = "good"
        configuration.mqtt.uris = []
        let options = try LinkOptions(configuration, topics: Reconnection.topics(of: configuration))
        #expect(throws: LinkError.self) { try Link(options: options, report: { _ in }) }
    }
}
