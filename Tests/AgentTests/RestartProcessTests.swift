import Foundation
import TestSupport
import Testing

/// What an agent that was ended, killed or cut off has left with the broker, and what the next one makes of it: the real
/// agent with a real mosquitto and the rights that the package `seismote-broker` gives a station.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RestartProcessTests {
    static let versions = ["5", "\"3.1.1\""]

    /// A mosquitto with those rights; `watcher` may read everything.
    private static func broker(_ folder: TemporaryFolder) throws -> Broker {
        let rights = try BrokerRights.make([("board", "station"), ("watcher", "commander")], in: folder)
        return try Broker("acl_file \(rights)")
    }

    private static func watcher(_ broker: Broker) throws -> Subscriber {
        try Subscriber(port: broker.port, username: "watcher")
    }

    private static func settings(_ port: Int, _ state: String, version: String, sensor: String) -> String {
        """
        station: {id: board}
        storage: {directory: "\(state)"}
        mqtt: {uri: "mqtt://127.0.0.1:\(port)", username: board, protocol: \(version)}
        \(sensor)
        """
    }

    private static let quiet = "sensor: {driver: simulate, simulate: {scenario: quiet}}"
    private static let missing = "sensor: {driver: replay, replay: {file: /nowhere.csv}}"
    /// Always above the threshold: an event that never ends by itself.
    private static let shaking = """
        sensor: {driver: simulate, simulate: {scenario: quiet}}
        conditioning: {offset: {mode: none}, settle_s: 0}
        axes: {all: {signal: {sine: {amplitude: 1 g, frequency_hz: 2}}}}
        """

    // MARK: Alerts

    enum End: CaseIterable {
        case term, hangUp, kill
        /// Nothing of the state folder is left.
        case lostDisk
    }

    @Test(arguments: End.allCases, versions) func anAlertThatARestartHasCuredIsCleared(_ end: End, version: String)
        throws
    {
        let folder = try TemporaryFolder(isQuick: true)
        let broker = try Self.broker(folder)
        let watcher = try Self.watcher(broker)
        func settings(_ sensor: String) -> String {
            Self.settings(broker.port, folder.path("state"), version: version, sensor: sensor)
        }
        let first = try AgentProcess(settings: settings(Self.missing))
        let topic = "seismote/board/state/alert/sensor_missing"
        let raised = watcher.first(within: 20) { $0.topic == topic && !$0.payload.isEmpty }
        #expect(raised != nil, "\(first.child.errors)")
        var next: AgentProcess?
        switch end {
        case .hangUp:
            try settings(Self.quiet).write(
                toFile: first.folder.path("seismote.yaml"), atomically: true, encoding: .utf8)
            first.child.signal(SIGHUP)
        case .term, .kill, .lostDisk:
            first.child.signal(end == .term ? SIGTERM : SIGKILL)
            #expect(eventually { !first.child.isRunning })
            if end == .lostDisk { try FileManager.default.removeItem(atPath: folder.path("state")) }
            next = try AgentProcess(settings: settings(Self.quiet))
        }
        let cleared = watcher.first(within: 20) { $0.topic == topic && $0.payload.isEmpty }
        #expect(cleared != nil, "\((next ?? first).child.errors)")
        let late = try Self.watcher(broker)
        #expect(late.first { $0.text == "online" } != nil)
        #expect(late.messages.filter { $0.topic.contains("/alert/sensor_") && !$0.payload.isEmpty } == [])
    }

    /// One that is there as before stays there all the time.
    @Test func anAlertThatARestartHasNotCuredStays() throws {
        let folder = try TemporaryFolder(isQuick: true)
        let broker = try Self.broker(folder)
        let watcher = try Self.watcher(broker)
        let settings = Self.settings(broker.port, folder.path("state"), version: "5", sensor: Self.missing)
        let first = try AgentProcess(settings: settings)
        let topic = "seismote/board/state/alert/sensor_missing"
        let raised = try #require(watcher.first(within: 20) { $0.topic == topic }, "\(first.child.errors)")
        first.child.signal(SIGKILL)
        #expect(eventually { !first.child.isRunning })
        let next = try AgentProcess(settings: settings)
        let again = watcher.first(within: 20) {
            $0.topic == topic && $0.json["boot"] as? String != raised.json["boot"] as? String
        }
        #expect(again != nil, "\(next.child.errors)")
        #expect(watcher.messages(on: topic).allSatisfy { !$0.payload.isEmpty })
    }
}
