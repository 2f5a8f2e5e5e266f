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

    /// An agent is killed when somebody has heard its event.
    /// - Returns: the message that was heard.
    private static func cutOff(_ settings: String, after kind: String, _ watcher: Subscriber) throws -> [String: Any] {
        let agent = try AgentProcess(settings: settings)
        let heard = watcher.first(within: 20) { $0.json["event_type"] as? String == kind }
        let message = try #require(heard, "\(agent.child.errors)").json
        agent.child.signal(SIGKILL)
        #expect(eventually { !agent.child.isRunning })
        return message
    }

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
            // (A station without a sensor says so at once, perhaps before it has a folder to lose.)
            #expect(eventually { FileManager.default.fileExists(atPath: folder.path("state")) })
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

    // MARK: Open events

    /// A power cut after the onset was heard, before the disk had it: the disk is as it was some time before.
    @Test(arguments: versions) func anOnsetThatOnlyTheBrokerHasGetsItsEnd(version: String) throws {
        let folder = try TemporaryFolder(isQuick: true)
        let broker = try Self.broker(folder)
        let watcher = try Self.watcher(broker)
        let state = folder.path("state")
        func settings(_ sensor: String) -> String {
            Self.settings(broker.port, state, version: version, sensor: sensor)
        }
        do {
            let before = try AgentProcess(settings: settings(Self.quiet))
            let online = watcher.first(within: 20) { $0.topic.hasSuffix("/state/summary") }
            #expect(online != nil, "\(before.child.errors)")
            before.child.signal(SIGTERM)
            #expect(before.child.wait(within: 10) == 0)
        }
        try FileManager.default.copyItem(atPath: state, toPath: folder.path("disk"))
        let onset = try Self.cutOff(settings(Self.shaking), after: "onset", watcher)
        try FileManager.default.removeItem(atPath: state)
        try FileManager.default.copyItem(atPath: folder.path("disk"), toPath: state)
        let next = try AgentProcess(settings: settings(Self.quiet))
        // (`event/last` says the same, and may come first.)
        let found = watcher.first(within: 30) {
            $0.topic == "seismote/board/event/trigger" && $0.json["interrupted"] as? Bool == true
        }
        let end = try #require(found, "\(next.child.errors)").json
        #expect(end["event_type"] as? String == "end")
        for name in ["event_id", "boot", "onset", "station"] {
            #expect(end[name] as? String == onset[name] as? String && onset[name] != nil, "\(name)")
        }
        // Its number is the next one of the run that was cut off.
        let numbers = watcher.messages(on: "seismote/board/event/trigger").map(\.json)
            .filter { $0["boot"] as? String == onset["boot"] as? String }.compactMap { $0["seq"] as? Int }
        #expect(numbers.count == Set(numbers).count && end["seq"] as? Int == numbers.max())
        let last = watcher.first(within: 20) {
            $0.topic == "seismote/board/event/last" && $0.json["event_id"] as? String == onset["event_id"] as? String
        }
        #expect(last != nil)
        let late = try Self.watcher(broker)
        #expect(late.first { $0.text == "online" } != nil)
        #expect(late.messages(on: "seismote/board/event/current") == [])
    }

    /// What the disk has closed is not closed once more.
    @Test func anOnsetThatTheDiskHasGetsOneEnd() throws {
        let folder = try TemporaryFolder(isQuick: true)
        let broker = try Self.broker(folder)
        let watcher = try Self.watcher(broker)
        func settings(_ sensor: String) -> String {
            Self.settings(broker.port, folder.path("state"), version: "5", sensor: sensor)
        }
        let update = try Self.cutOff(settings(Self.shaking), after: "update", watcher)
        let next = try AgentProcess(settings: settings(Self.quiet))
        let found = watcher.first(within: 30) { $0.json["interrupted"] as? Bool == true }
        #expect(found?.json["event_id"] as? String == update["event_id"] as? String, "\(next.child.errors)")
        #expect(watcher.first(within: 20) { $0.topic == "seismote/board/event/current" && $0.payload.isEmpty } != nil)
        let summary = watcher.messages.last { $0.topic.hasSuffix("/state/summary") }?.json["seq"] as? Int ?? 0
        _ = watcher.first(within: 20) {
            $0.topic.hasSuffix("/state/summary") && $0.json["seq"] as? Int ?? 0 >= summary + 3
        }
        // `event/current` waits for no disk. Where the kill was quicker than that, the disk does not know of the update: its
        // end has the update's number or a lower one, and what the broker retains gets the one end that is newer.
        let told = ["event/trigger", "event/current"].flatMap { watcher.messages(on: "seismote/board/\($0)") }
            .map(\.json).filter { $0["boot"] as? String == update["boot"] as? String }
        let newest = told.filter { $0["event_type"] as? String != "end" }.compactMap { $0["seq"] as? Int }.max() ?? 0
        let ends = told.filter { $0["event_type"] as? String == "end" }.compactMap { $0["seq"] as? Int }
        let isOnDisk = ends.first ?? 0 > newest
        #expect(next.child.errors.contains("that only the broker knew of") != isOnDisk)
        #expect(ends.count == (isOnDisk ? 1 : 2) && ends.count { $0 > newest } == 1, "\(ends), \(newest)")
    }

    /// Without a disk it is closed all the same.
    @Test func anOpenEventIsClosedWithoutADisk() throws {
        let folder = try TemporaryFolder(isQuick: true)
        let broker = try Self.broker(folder)
        let watcher = try Self.watcher(broker)
        func settings(_ sensor: String) -> String {
            Self.settings(broker.port, "/proc/nowhere/state", version: "5", sensor: sensor)
        }
        let onset = try Self.cutOff(settings(Self.shaking), after: "onset", watcher)
        let next = try AgentProcess(settings: settings(Self.quiet))
        let end = watcher.first(within: 30) { $0.json["interrupted"] as? Bool == true }
        #expect(end?.json["event_id"] as? String == onset["event_id"] as? String, "\(next.child.errors)")
    }

    /// With the rights of before the station cannot know what the broker has: it says so, and the disk comes first.
    @Test(arguments: versions) func withoutTheRightToReadItSaysSo(version: String) throws {
        let folder = try TemporaryFolder(isQuick: true)
        let rights =
            "user watcher\ntopic read seismote/#\nuser board\ntopic write seismote/board/#\ntopic read seismote/board/cmd/#\n"
        let broker = try Broker("acl_file %/acl", files: ["acl": rights])
        let watcher = try Self.watcher(broker)
        let agent = try AgentProcess(
            settings: Self.settings(broker.port, folder.path("state"), version: version, sensor: Self.quiet))
        #expect(eventually { agent.child.errors.contains("does not let the station read its own topic") })
        #expect(agent.child.errors.contains("seismote/board/event/current"))
        #expect(watcher.first { $0.topic == "seismote/board/state/summary" } != nil)
        #expect(!watcher.messages.contains { $0.topic.hasSuffix("/alert/write_denied") && !$0.payload.isEmpty })
    }

    // MARK: The name

    /// What was stored under the host's name, before anybody gave the station one, arrives under its name: the broker
    /// takes no other.
    @Test func whatWasStoredUnderTheHostsNameArrives() throws {
        let folder = try TemporaryFolder(isQuick: true)
        let broker = try Self.broker(folder)
        let watcher = try Self.watcher(broker)
        func settings(_ id: String, _ port: Int, _ sensor: String) -> String {
            Self.settings(port, folder.path("state"), version: "5", sensor: sensor)
                .replacing("station: {id: board}", with: id)
        }
        // There is no broker yet.
        let port = try FreePort.find()
        do {
            let nameless = try AgentProcess(settings: settings("", port, Self.shaking))
            #expect(eventually { nameless.child.errors.contains("not connected") })
            let log = folder.path("state/spool.db-wal")
            #expect(
                eventually {
                    let bytes = (try? Data(contentsOf: URL(fileURLWithPath: log))) ?? Data()
                    return bytes.range(of: Data(#""event_type":"onset""#.utf8)) != nil
                })
            nameless.child.signal(SIGTERM)
            #expect(nameless.child.wait(within: 10) == 0)
        }
        let named = try AgentProcess(settings: settings("station: {id: board}", broker.port, Self.quiet))
        for kind in ["onset", "end"] {
            let message = watcher.first(within: 20) { $0.json["event_type"] as? String == kind }
            let event = try #require(message, "\(named.child.errors)").json
            #expect(message?.topic.hasPrefix("seismote/board/") == true)
            #expect(
                event["station"] as? String == "board" && (event["event_id"] as? String)?.hasPrefix("board-2") == true)
        }
        #expect(eventually { named.child.errors.contains("stored under the host's name") })
        #expect(
            watcher.messages.allSatisfy {
                $0.topic.hasPrefix("seismote/board/") || $0.topic.hasPrefix("homeassistant/")
            })
        #expect(!watcher.messages.contains { $0.topic.hasSuffix("/alert/write_denied") && !$0.payload.isEmpty })
    }
}
