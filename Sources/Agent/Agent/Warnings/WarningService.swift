import MQTT
import Messages
import Settings
import Values
import Warning

/// Warns of what the network's detector has located: reads its events, publishes what is to be expected here, and tells the
/// alarm line. Lives on the main thread. What is decided is decided by ``NetworkWarning``.
final class WarningService {
    /// Not more often than this is one reason for a refusal logged (ns).
    private static let logPause: Int64 = 60_000_000_000

    /// Messages that may be the network's events.
    let inbox: MessageInbox
    private let link: Link
    private let log: Log
    /// Nil: there is no line.
    private let alarm: AlarmThread?
    /// Nil: it is switched off.
    private var warning: NetworkWarning?
    private var line: NetworkWarning.Line?
    private var logged: [WarningRefusal: Int64] = [:]

    init(inbox: MessageInbox, link: Link, log: Log, alarm: AlarmThread?) {
        (self.inbox, self.link, self.log, self.alarm) = (inbox, link, log, alarm)
    }

    /// For `state/health`; nil: it is switched off.
    var report: HealthMessage.Warnings? {
        guard let warning else { return nil }
        var report = HealthMessage.Warnings()
        (report.issued, report.alarms, report.refused) = (warning.issued, warning.alarms, warning.refused)
        return report
    }

    /// When there is something to do next (ns of the monotonic clock); nil: not by itself.
    var due: Int64? { warning?.due }

    /// Other settings are in force.
    func take(_ configuration: Configuration, _ topics: Topics, _ messenger: inout Messenger) {
        let network = configuration.alarm.network
        guard network.enabled, let latitude = configuration.station.latitude,
            let longitude = configuration.station.longitude
        else {
            if var old = warning.take() { publish(old.end(now), &messenger) }
            return tellLine()
        }
        let options = NetworkWarning.Options(
            topic: topics.networkEvent, latitude: latitude, longitude: longitude, intensity: network.intensity,
            stations: network.stations)
        if warning?.options != options { warning = warning?.with(options) ?? NetworkWarning(options) }
    }

    /// Takes what has come, and ends what has passed; to be called when the inbox has something, and when it is due.
    func round(_ messenger: inout Messenger) {
        let (messages, lost) = inbox.take()
        guard warning != nil else { return }
        if lost > 0 {
            warning?.drop(lost)
            note(.crowded)
        }
        for message in messages {
            let tree = message.isTooLarge ? nil : try? JSONReader.read(message.payload)
            let outcome = warning?.take(topic: message.topic, isRetained: message.isRetained, tree, at: now)
            guard let outcome else { continue }
            // (The line first: what is published waits for nobody, but takes some time.)
            tellLine()
            publish(outcome.messages, &messenger)
            if let refusal = outcome.refusal { note(refusal) }
        }
        guard let due, HostClock.monotonic() >= due else { return }
        let over = warning?.advance(now) ?? []
        tellLine()
        publish(over, &messenger)
    }

    private var now: NetworkWarning.Moment {
        let clock = HostStatus.timeQuality()
        return .init(
            wall: HostClock.wall(), monotonic: HostClock.monotonic(),
            isSynchronized: clock?.synced == true && clock?.errorMs ?? 0 <= 1000)
    }

    private func tellLine() {
        let wanted = warning?.line
        guard wanted != line else { return }
        line = wanted
        alarm?.warn(wanted)
    }

    private func publish(_ messages: [WarningMessage], _ messenger: inout Messenger) {
        let link = self.link
        for message in messages {
            messenger.send(message, to: { link.publish($0, $1) })
            log.notice(
                "warning \(message.state.rawValue)\(message.alarm ? ", the alarm line is asked for" : "")",
                [
                    "network_event": .text(message.networkEvent), "version": .int(message.version),
                    "seconds": .number(message.seconds), "mmi": .number(message.intensity),
                    "distance_km": .number(message.distance),
                ])
        }
    }

    private func note(_ refusal: WarningRefusal) {
        let now = HostClock.monotonic()
        if let last = logged[refusal], now - last < Self.logPause { return }
        logged[refusal] = now
        log.notice("no warning of a message of the network: \(refusal.words)", ["reason": .text(refusal.rawValue)])
    }
}
