import Glibc
import Link
import Messages
import Sensors
import Settings

/// What is said when somebody asks.
extension Reporter {
    /// The faults that are there now.
    var activeAlerts: [AlertMessage] { alerts.active }

    /// The same as `state/health`, as of now; what that counts from one message to the next goes on undisturbed.
    func statusNow() -> Value {
        let now = HostClock.monotonic()
        let words = status.now
        let message = healthNow(
            HealthReport.sensorState(status, now: now, stallTime: stallTime(words.sensor)),
            words.sensor?.clock == .recording ? .replay : clockQuality(HostStatus.timeQuality()), now)
        var members: [Value.Member] = [
            .init("online", .bool(link.statistics.connected)), .init("rev", .int(Int64(revision))),
        ]
        if case .object(let rest)? = try? JSONReader.read(message.json()) { members += rest }
        return .object(members)
    }

    private func healthNow(
        _ sensor: HealthMessage.SensorState, _ time: TimeQuality, _ now: Int64
    ) -> HealthMessage {
        let late = status.worstLateness.load(ordering: .relaxed)
        var health = self.health
        var message = health.message(
            status, link.statistics, storage.now, sensor: sensor, time: time, alerts: alerts.codes, now: now)
        message.mqtt.rejectedCommands = rejectedCommands
        status.worstLateness.max(late, ordering: .relaxed)
        return message
    }

    /// What this machine may know of the agent.
    /// - Parameter waits: it is too early for an alert of a sensor that cannot be opened.
    func stateNow(_ sensor: HealthMessage.SensorState, _ time: TimeQuality, waits: Bool, _ now: Int64) -> AgentState {
        let (words, statistics) = (status.now, link.statistics)
        let info = Identity.info(inForce, sensor: words.sensor, level: lastLevel, memory: memory)
        var state = AgentState(
            process: Int(getpid()), written: now, time: HostClock.wall(), boot: messenger.boot, agent: info.agent,
            topics: messenger.topics, health: healthNow(sensor, time, now))
        state.isConnected = statistics.connected
        state.broker = statistics.summary
        state.mqtt = statistics.version.map { $0 == .v5 ? "5" : "3.1.1" }
        state.sensor = info.sensor
        (state.isWaiting, state.isEnded) = (waits, words.ended)
        state.mean = status.mean
        state.alerts = alerts.active
        return state
    }

    /// Says info, configuration, schema, health and alerts anew; the link sends everything that is retained again.
    func sayAllAgain() {
        sayIdentity()
        for alert in alerts.active { say(alert) }
        healthDue = 0
        look()
    }
}
