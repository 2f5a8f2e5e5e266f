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
        let late = status.worstLateness.load(ordering: .relaxed)
        var health = self.health
        var message = health.message(
            status, link.statistics, storage.now,
            sensor: HealthReport.sensorState(status, now: now, stallTime: stallTime(words.sensor)),
            time: words.sensor?.clock == .recording ? .replay : clockQuality(HostStatus.timeQuality()),
            alerts: alerts.codes, now: now)
        message.mqtt.rejectedCommands = rejectedCommands
        status.worstLateness.max(late, ordering: .relaxed)
        var members: [Value.Member] = [
            .init("online", .bool(link.statistics.connected)), .init("rev", .int(Int64(revision))),
        ]
        if case .object(let rest)? = try? JSONReader.read(message.json()) { members += rest }
        return .object(members)
    }

    /// Says info, configuration, schema, health and alerts anew; the link sends everything that is retained again.
    func sayAllAgain() {
        sayIdentity()
        for alert in alerts.active { say(alert) }
        healthDue = 0
        look()
    }
}
