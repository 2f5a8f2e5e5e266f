import Foundation
import Messages
import TestSupport
import Testing

@testable import Agent

/// The agent's own state as a file for this machine.
@Suite(.timeLimit(.minutes(5))) struct StateFileTests {
    private func state(_ written: Int64) throws -> AgentState {
        AgentState(
            process: 42, written: written, time: 0, boot: "b", agent: .init(version: "1", build: "b"),
            topics: try Topics(id: "board"), health: HealthMessage(sensor: .ok, time: .replay))
    }

    @Test func itIsWrittenOnEachChangeAndEveryTwoSeconds() throws {
        let folder = try TemporaryFolder()
        var file = StateFile { $0 == "RUNTIME_DIRECTORY" ? folder.url.path + ":/other" : nil }
        #expect(file.path == folder.path("status.json"))
        #expect(file.isDue(isNew: false, now: 0))
        #expect(file.write(try state(0)) == nil)
        #expect(!file.isDue(isNew: false, now: 1_999_999_999) && file.isDue(isNew: true, now: 1))
        #expect(file.isDue(isNew: false, now: 2_000_000_000))
        // For root and the group, whatever the umask is; nothing lies beside it.
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("status.json"))[.posixPermissions]
        #expect(mode as? Int == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["status.json"])
        file.remove()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    /// One sentence when it begins, not one every second.
    @Test func aFolderThatIsNotThereIsSaidOnce() throws {
        let folder = try TemporaryFolder()
        var file = StateFile { _ in folder.path("none") }
        #expect(file.write(try state(0))?.contains("No such file") == true)
        #expect(file.write(try state(1)) == nil)
        #expect(StateFile { _ in nil }.path == nil && StateFile { _ in "relative" }.path == nil)
        #expect(!StateFile { _ in nil }.isDue(isNew: true, now: 0))
    }

    /// `seismoted --health`, as a container asks.
    @Test func healthIsJudgedFromTheFile() throws {
        var state = try state(0)
        state.broker = "connected"
        func health(_ change: (inout AgentState) -> Void, age: Int64 = 1_000_000_000) -> AgentHealth {
            var changed = state
            changed.isConnected = true
            change(&changed)
            return AgentHealth(file: changed.json(), now: age)
        }
        let well = health { _ in }
        #expect(well.isWell && well.words == "sensor ok, broker connected")
        #expect(!health { $0.isConnected = false }.isWell)
        #expect(health({ _ in }, age: AgentState.patience).isWell)
        let old = health({ _ in }, age: AgentState.patience + 1)
        #expect(!old.isWell && old.words.hasPrefix("its newest state is 15 s old"))
        // The monotonic clock of another boot.
        #expect(!health({ $0.written = 10 }, age: 9).isWell)
        #expect(!health { $0.health = HealthMessage(sensor: .missing, time: .replay) }.isWell)
        #expect(health { ($0.health, $0.isWaiting) = (HealthMessage(sensor: .missing, time: .replay), true) }.isWell)
        #expect(!AgentHealth(file: nil).isWell && !AgentHealth(file: [0x7B], now: 0).isWell)
    }

    /// The real agent without a sensor and without a broker.
    @Test func anAgentWithoutSensorSaysSo() throws {
        let folder = try TemporaryFolder()
        let agent = try AgentProcess(
            settings: """
                station: {id: board}
                sensor: {driver: i2c, i2c: {bus: 250}}
                mqtt: {uri: "mqtt://127.0.0.1:1"}
                """, environment: ["RUNTIME_DIRECTORY": folder.url.path])
        func read() -> [String: Any] {
            let data = FileManager.default.contents(atPath: folder.path("status.json")) ?? Data()
            return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
        }
        func codes() -> [String] { (read()["alerts"] as? [[String: Any]] ?? []).compactMap { $0["code"] as? String } }
        #expect(eventually(within: 60) { codes().contains("sensor_missing") }, "\(agent.child.errors)")
        let state = read()
        #expect(state["connected"] as? Bool == false)
        #expect((state["health"] as? [String: Any])?["sensor"] as? String == "missing")
        #expect((state["topics"] as? [String: Any])?["state"] as? String == "seismote/board/state")
        #expect(state["mean"] == nil)
        agent.child.signal(SIGTERM)
        #expect(agent.child.wait(within: 20) == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path("status.json")))
    }

    /// With a sensor: the mean of its samples is gravity, and the time of the file goes on.
    @Test func anAgentWithASensorTellsWhereGravityIs() throws {
        let folder = try TemporaryFolder()
        let agent = try AgentProcess(
            settings: """
                station: {id: board}
                sensor: {driver: simulate, simulate: {scenario: quiet}, mounting: {x: "+z", y: "+y", z: "-x"}}
                mqtt: {uri: "mqtt://127.0.0.1:1"}
                """, environment: ["RUNTIME_DIRECTORY": folder.url.path])
        func read() -> [String: Any] {
            let data = FileManager.default.contents(atPath: folder.path("status.json")) ?? Data()
            return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
        }
        #expect(eventually(within: 60) { read()["mean"] != nil }, "\(agent.child.errors)")
        let first = read()
        let mean = try #require(first["mean"] as? [String: Double])
        #expect(abs((mean["x"] ?? 0) - 9.8) < 0.2 && abs(mean["z"] ?? 9) < 0.2, "\(mean)")
        let written = try #require(first["written_ns"] as? Int)
        #expect(eventually(within: 20) { (read()["written_ns"] as? Int ?? 0) > written })
    }
}
