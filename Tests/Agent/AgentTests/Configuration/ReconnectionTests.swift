import Foundation
import Messages
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import MQTT

/// Other settings of the connection in an agent without a sensor, with a real mosquitto.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReconnectionTests {
    /// What an agent has besides the sampling.
    private final class Bench {
        let folder: TemporaryFolder
        let link: Link
        let storage: StorageThread

        init(_ port: Int, in folder: TemporaryFolder? = nil, trial: Int = 0) throws {
            self.folder = try folder ?? TemporaryFolder()
            let configuration = try Bench.configuration(port, self.folder)
            let topics = try Topics(configuration)
            link = try Link(options: LinkOptions(configuration, topics: topics, trial: trial), report: { _ in })
            storage = try StorageThread(
                configuration, topics: topics, trial: trial, link: link, log: Log(level: .error))
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

        func change(
            _ port: Int, root: String = "seismote", trial: Int = 0, confirmed: Int? = nil
        ) throws -> UInt64 {
            let configuration = try Self.configuration(port, folder, root: root)
            let topics = try Topics(configuration)
            let options = try LinkOptions(configuration, topics: topics, trial: trial)
            let said = link.number(ofChangeTo: options)
            storage.change(configuration, topics: topics, trial: trial, confirmed: confirmed)
            let number = try link.change(to: options)
            #expect(number == said)
            return number
        }

        func publish(_ stream: Messages.Stream, _ topic: String, _ text: String) {
            Array(text.utf8).withUnsafeBytes { link.publish(stream.delivery.header(topic: topic), $0) }
        }

        func connected(after number: UInt64) -> Bool {
            eventually { link.statistics.connected && link.statistics.connections > number }
        }

        /// Messages that wait on the disk.
        var waiting: Int { storage.status.now.statistics.messages.total }

        func events(_ numbers: Range<Int>) {
            for number in numbers { publish(.trigger, "seismote/board/event/trigger", "\(number)") }
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

    // MARK: A broker on trial

    private static func heard(_ listener: Subscriber) -> [Int] {
        listener.messages(on: "seismote/board/event/trigger").compactMap { Int($0.text) }
    }

    /// Defect: what a broker took that nobody had confirmed was deleted, and the old broker never got it.
    @Test func whatABrokerOnTrialTookGoesToTheOldOneWhenTheChangeIsTakenBack() throws {
        let (old, stranger) = (try Broker(), try Broker())
        let (oldHears, strangerHears) = (try Subscriber(port: old.port), try Subscriber(port: stranger.port))
        let bench = try Bench(old.port)
        #expect(bench.connected(after: 0))
        bench.events(0..<5)
        #expect(eventually { Self.heard(oldHears).count == 5 && bench.waiting == 0 })
        let trial = try bench.change(stranger.port, trial: 7)
        #expect(bench.connected(after: trial))
        bench.events(5..<40)
        #expect(eventually { Self.heard(strangerHears).count == 35 && bench.link.statistics.inFlight == 0 })
        // All is acknowledged, and all of it is still here.
        #expect(eventually { bench.waiting == 35 && bench.storage.status.now.inMemory == 0 })
        let back = try bench.change(old.port)
        #expect(bench.connected(after: back))
        #expect(eventually { Set(Self.heard(oldHears)) == Set(0..<40) && bench.waiting == 0 })
        #expect(Self.heard(oldHears).count == 40)
    }

    @Test func whatABrokerOnTrialTookCountsWhenTheChangeIsConfirmed() throws {
        let (old, new) = (try Broker(), try Broker())
        let listener = try Subscriber(port: new.port)
        let bench = try Bench(old.port)
        let trial = try bench.change(new.port, trial: 7)
        #expect(bench.connected(after: trial))
        bench.events(0..<20)
        #expect(eventually { Self.heard(listener).count == 20 && bench.waiting == 20 })
        let connections = bench.link.statistics.connections
        let same = try bench.change(new.port, confirmed: 7)
        #expect(eventually { bench.waiting == 0 })
        bench.events(20..<30)
        #expect(eventually { Self.heard(listener).count >= 30 && bench.waiting == 0 })
        #expect(Self.heard(listener) == Array(0..<30))
        #expect(bench.link.statistics.connections == connections && same <= connections)
    }

    @Test func aKillDuringATrialSendsAgainWhatTheTrialTook() throws {
        let (old, stranger) = (try Broker(), try Broker())
        let listener = try Subscriber(port: stranger.port)
        let folder = try TemporaryFolder()
        do {
            let bench = try Bench(stranger.port, in: folder, trial: 7)
            #expect(bench.connected(after: 0))
            bench.events(0..<10)
            #expect(eventually { Self.heard(listener).count == 10 && bench.waiting == 10 })
        }
        let oldHears = try Subscriber(port: old.port)
        let next = try Bench(old.port, in: folder)
        #expect(eventually { Self.heard(oldHears) == Array(0..<10) && next.waiting == 0 })
    }

    @Test func theSameSettingsAgainAreNoReasonToConnectAnew() throws {
        let broker = try Broker()
        let bench = try Bench(broker.port)
        #expect(bench.connected(after: 0))
        let number = bench.link.statistics.connections
        let again = try bench.change(broker.port)
        #expect(again < number)
        // What is said now goes over the same connection.
        let listener = try Subscriber(port: broker.port)
        bench.publish(.trigger, "seismote/board/event/trigger", "after")
        #expect(listener.first { $0.text == "after" } != nil)
        #expect(bench.link.statistics.connections == number)
    }

    @Test func settingsThatNoConnectionCanBeMadeWithAreRefused() throws {
        let folder = try TemporaryFolder()
        var configuration = try Bench.configuration(1883, folder)
        configuration.mqtt.root = "not/+/good"
        #expect(throws: AgentError.self) { try Topics(configuration) }
        configuration.mqtt.root = "good"
        configuration.mqtt.uris = []
        let options = try LinkOptions(configuration, topics: Topics(configuration))
        #expect(throws: MQTTError.self) { try Link(options: options, report: { _ in }) }
    }
}
