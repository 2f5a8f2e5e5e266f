import Foundation
import TestSupport
import Testing

/// The real agent with a real mosquitto and a disk. `deploy/checks/broker-faults` is the long form.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StorageProcessTests {
    private static let state = "seismote/board/state"

    /// A test signal that is always above the threshold: an event that never ends by itself.
    private static func shaking(_ port: Int, _ directory: String) -> String {
        """
        station: {id: board}
        sensor: {driver: simulate, simulate: {scenario: quiet}}
        conditioning: {offset: {mode: none}, settle_s: 0}
        axes: {all: {signal: {sine: {amplitude: 1 g, frequency_hz: 2}}}}
        waveform: {chunk_s: 2}
        storage: {directory: "\(directory)"}
        mqtt: {uri: "mqtt://127.0.0.1:\(port)", protocol: 5}
        """
    }

    @Test func theNextAgentClosesTheEventThatAKillLeftOpen() throws {
        let broker = try Broker()
        let folder = try TemporaryFolder(isQuick: true)
        let listener = try Subscriber(port: broker.port)
        let settings = Self.shaking(broker.port, folder.path("state"))
        let killed = try AgentProcess(settings: settings)
        let onset = try #require(
            listener.first(within: 20) { $0.json["event_type"] as? String == "onset" }, "\(killed.child.errors)"
        ).json
        #expect(listener.first(within: 20) { $0.json["event_type"] as? String == "update" } != nil)
        #expect(listener.first(within: 20) { $0.topic.contains("/data/waveform/") } != nil)
        killed.child.signal(SIGKILL)
        #expect(eventually { !killed.child.isRunning })
        let next = try AgentProcess(settings: settings)
        let end = try #require(
            listener.first(within: 20) { $0.json["interrupted"] as? Bool == true }, "\(next.child.errors)"
        ).json
        #expect(end["event_type"] as? String == "end")
        #expect(end["event_id"] as? String == onset["event_id"] as? String)
        #expect(end["boot"] as? String == onset["boot"] as? String)
        // The numbers of the killed agent's stream have no hole, and the waveform is whole.
        let triggers = listener.messages(on: "seismote/board/event/trigger").map(\.json)
        let numbers = triggers.filter { $0["boot"] as? String == onset["boot"] as? String }
            .compactMap { $0["seq"] as? Int }
        #expect(Set(numbers) == Set(0...(numbers.max() ?? 0)))
        let waveform = try #require(end["waveform"] as? [String: Any])
        let parts = listener.messages.filter { $0.topic == waveform["topic"] as? String }.map(\.payload)
        var distinct: [Data] = []
        for part in parts where !distinct.contains(part) { distinct.append(part) }
        #expect(distinct.reduce(0) { $0 + $1.count } == waveform["bytes"] as? Int)
        #expect(distinct.count == waveform["messages"] as? Int)
    }

    /// With a recording that is played again the ids of events come again: the end of the first one made the second, which
    /// another kill interrupted, count as finished.
    @Test func anEventOfARecordingThatIsPlayedAgainGetsItsEndToo() throws {
        let broker = try Broker()
        let folder = try TemporaryFolder(isQuick: true)
        let listener = try Subscriber(port: broker.port)
        // One peak after ten seconds, ten times as fast as it was.
        let rows = (0..<6000).map { index in
            "\(1_577_836_800 + Double(index) / 100),0.001,0.002,\(9.81 + (index < 1000 ? 0 : 2 * sin(Double(index) / 8)))"
        }
        let file = try folder.write("recording.csv", "t,x,y,z\n" + rows.joined(separator: "\n") + "\n")
        let settings = """
            station: {id: board}
            sensor: {driver: replay, replay: {file: "\(file)", speed: 10, loop: true}}
            conditioning: {settle_s: 1}
            storage: {directory: "\(folder.path("state"))"}
            mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)"}
            """
        var boots: [String] = []
        var ids: Set<String> = []
        for _ in 0..<3 {
            let agent = try AgentProcess(settings: settings)
            let onset = try #require(
                listener.first(within: 20) {
                    $0.json["event_type"] as? String == "onset" && !boots.contains($0.json["boot"] as? String ?? "")
                }, "\(agent.child.errors)"
            ).json
            boots.append(onset["boot"] as? String ?? "")
            ids.insert(onset["event_id"] as? String ?? "")
            agent.child.signal(SIGKILL)
            #expect(eventually { !agent.child.isRunning })
        }
        #expect(ids.count == 1 && Set(boots).count == 3)
        let last = try AgentProcess(settings: settings)
        for boot in boots {
            let end = listener.first(within: 20) {
                $0.json["interrupted"] as? Bool == true && $0.json["boot"] as? String == boot
            }
            #expect(end != nil, "\(last.child.errors)")
        }
    }

    /// Nobody noticed, and what was kept from then on was gone with the process.
    @Test(arguments: [true, false]) func aFolderThatIsDeletedWhileInUseIsBegunAnewAndSaid(isFolder: Bool) throws {
        let broker = try Broker()
        let folder = try TemporaryFolder(isQuick: true)
        let listener = try Subscriber(port: broker.port)
        let settings = Self.shaking(broker.port, folder.path("state"))
        let agent = try AgentProcess(settings: settings)
        #expect(
            listener.first(within: 20) { $0.json["event_type"] as? String == "update" } != nil, "\(agent.child.errors)")
        let database = folder.path("state/spool.db")
        if isFolder {
            try FileManager.default.removeItem(atPath: folder.path("state"))
        } else {
            #expect(truncate(database, 0) == 0)
        }
        let alert = try #require(
            listener.first(within: 20) { $0.topic == "\(Self.state)/alert/storage_taken" }, "\(agent.child.errors)"
        ).json
        #expect(((alert["details"] as? [String: Any])?["reason"] as? String)?.contains(database) == true)
        let health = try #require(listener.first(within: 20) { $0.topic == "\(Self.state)/health" }).json
        #expect(health["gaps"] as? Int == 0)
        #expect(eventually { FileManager.default.fileExists(atPath: database) })
        // What comes from now on is kept.
        let updates = listener.messages.count { $0.json["event_type"] as? String == "update" }
        #expect(
            eventually(within: 20) {
                listener.messages.count { $0.json["event_type"] as? String == "update" } > updates + 1
            })
        agent.child.signal(SIGKILL)
        #expect(eventually { !agent.child.isRunning })
        let next = try AgentProcess(settings: settings)
        let end = listener.first(within: 20) { $0.json["interrupted"] as? Bool == true }
        #expect(end != nil, "\(next.child.errors)")
    }

    @Test func withoutADiskMessagesLeaveAllTheSame() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let agent = try AgentProcess(settings: Self.shaking(broker.port, "/proc/nowhere/state"))
        let alert = try #require(
            listener.first(within: 20) { $0.topic == "\(Self.state)/alert/storage_failed" }, "\(agent.child.errors)"
        ).json
        let details = try #require(alert["details"] as? [String: Any])
        #expect((details["error"] as? String)?.contains("/proc/nowhere/state") == true)
        #expect(listener.first(within: 20) { $0.json["event_type"] as? String == "update" } != nil)
        agent.child.signal(SIGTERM)
        #expect(agent.child.wait(within: 10) == 0)
        #expect(listener.first { $0.json["event_type"] as? String == "end" } != nil)
    }

    @Test func aDamagedFileIsSetAsideAndSaid() throws {
        let broker = try Broker()
        let folder = try TemporaryFolder(isQuick: true)
        try FileManager.default.createDirectory(atPath: folder.path("state"), withIntermediateDirectories: true)
        try folder.write("state/spool.db", String(repeating: "this is no database\n", count: 1000))
        let listener = try Subscriber(port: broker.port)
        let agent = try AgentProcess(settings: Self.shaking(broker.port, folder.path("state")))
        let alert = listener.first(within: 20) { $0.topic == "\(Self.state)/alert/storage_set_aside" }
        #expect(alert != nil, "\(agent.child.errors)")
        #expect(listener.first(within: 20) { $0.json["event_type"] as? String == "onset" } != nil)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("state"))
        #expect(files.contains { $0.hasPrefix("spool.db.broken") })
        #expect(files.contains("spool.db"))
    }
}
