import MQTT
import Platform

/// Logs the events of the connection; a refusal that repeats is logged the 1st, 2nd, 4th, 8th … time.
final class LinkJournal: Sendable {
    private let log: Log
    private let refusals = Mutex<[Int: Int]>([:])

    init(log: Log) { self.log = log }

    /// Logs what an operator should know of the options at the start.
    /// - Parameter isAutomatic: nobody has asked for the version of MQTT.
    func note(_ options: LinkOptions, isAutomatic: Bool) {
        for file in options.exposedFiles {
            log.warning("a file with a secret can be read by every user; to fix: chmod o-r", ["file": .text(file)])
        }
        guard ClientLibrary.diesOfProperties, isAutomatic || options.connection.version == .v5 else { return }
        let why = "libmosquitto \(ClientLibrary.version) can be ended by a packet of MQTT 5 (fixed in 2.0.16)"
        if isAutomatic { return log.notice("\(why): using MQTT 3.1.1; set mqtt.protocol: 5 to use 5 nevertheless") }
        log.warning("\(why), and mqtt.protocol is 5")
    }

    func note(_ event: LinkEvent) {
        switch event {
        case .connecting(let broker):
            log.debug("connecting", ["broker": .text(broker.description)])
        case .connected(let broker, let version):
            log.notice(
                "connected",
                ["broker": .text(broker.description), "mqtt": .text(version == .v5 ? "5" : "3.1.1")])
        case .fallingBack(let broker):
            log.warning(
                "the broker refuses MQTT 5, or hangs up on it: trying 3.1.1", ["broker": .text(broker.description)])
        case .disconnected(let broker, let reason, let pause):
            log.warning(
                "not connected: \(reason)",
                ["broker": .text(broker.description), "retry_s": .number((pause * 10).rounded() / 10)])
        case .notSubscribed(let filter, let failure):
            let why =
                switch failure {
                case .refused(let code): "refused (\(code))"
                case .unanswered: "not answered"
                case .impossible: "not possible"
                }
            log.warning("subscription \(why)", ["filter": .text(filter)])
        case .checked(let findings):
            for finding in findings { note(finding) }
        case .readBack(let message):
            log.debug("read back what the broker retains of the run before", ["topic": .text(message.topic)])
        case .cannotReadBack(let topics):
            log.warning(
                "the broker does not let the station read its own topic: an event that a power cut interrupts is closed only if the disk has it; to fix: give the station the right to read it",
                ["topic": .text(topics.joined(separator: ", "))])
        case .refused(let topic, let reason):
            guard let count = rarely(reason) else { return }
            log.warning(
                "the broker refused a message", ["topic": .text(topic), "reason": .int(reason), "count": .int(count)])
        case .tooLarge(let topic, let bytes):
            guard let count = rarely(-1) else { return }
            log.warning(
                "a message is larger than the broker accepts",
                ["topic": .text(topic), "bytes": .int(bytes), "count": .int(count)])
        case .overwritten(let topic):
            guard let count = rarely(-2) else { return }
            log.notice(
                "somebody else wrote a topic of this station: its own value is published again",
                ["topic": .text(topic), "count": .int(count)])
        case .abandoned(let topic):
            log.warning(
                "the broker hangs up on messages to this topic: they are sent last from now on, and at growing intervals",
                ["topic": .text(topic)])
        }
    }

    private func note(_ finding: SelfCheckFinding) {
        let isWriting = finding.subject == .writing
        let fields: KeyValuePairs<String, Log.Field> = ["topic": .text(finding.topic)]
        switch finding.outcome {
        case .verified: log.debug(isWriting ? "authorised to publish to the topic" : "commands arrive", fields)
        case .denied:
            log.warning(
                isWriting ? "not authorised by the broker to publish to the topic" : "commands do not arrive", fields)
        case .unverifiable:
            log.info(
                isWriting
                    ? "the right to publish to the topic cannot be verified: the broker does not report it, and the topic cannot be read"
                    : "the right to receive commands cannot be verified: the test command did not come back",
                fields)
        }
    }

    /// How often this has happened, when that is 1, 2, 4, 8, ...
    private func rarely(_ kind: Int) -> Int? {
        refusals.withLock { refusals in
            let count = (refusals[kind] ?? 0) + 1
            refusals[kind] = count
            return count & (count - 1) == 0 ? count : nil
        }
    }
}

extension LinkStatistics {
    /// State of the connection to the broker, in one line.
    var summary: String {
        if connected { return version == .v311 ? "connected with MQTT 3.1.1" : "connected" }
        return isRefused ? "credentials refused: \(lastCredentialRefusal)" : "not connected"
    }
}
