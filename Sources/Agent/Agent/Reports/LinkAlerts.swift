import Link
import Messages
import Settings

/// Which alerts there are of the connection. Pure: from the link's counters to sentences. What has happened stays an
/// alert for a while, so that it is seen.
struct LinkAlerts {
    typealias Item = (code: AlertBoard.Code, severity: AlertMessage.Severity, fault: AlertBoard.Fault?)

    /// Nanoseconds that a refused or too large message stays an alert.
    static let memory: Int64 = 60_000_000_000
    /// The same for refused credentials, from when the broker accepts us again: nobody hears of it before.
    static let credentialMemory: Int64 = 600_000_000_000

    private var plaintext: AlertBoard.Fault?
    private var refused = Lately()
    private var tooLarge = Lately()
    private var credentials = Lately()

    init(_ settings: MQTTConfiguration) { plaintext = Self.plaintext(settings) }

    /// Other settings are in force.
    mutating func change(_ settings: MQTTConfiguration) { plaintext = Self.plaintext(settings) }

    /// Each code with what it says; nil when all is well with it.
    mutating func look(_ statistics: LinkStatistics, now: Int64) -> [Item] {
        // What lasts is said for as long as it does; 128 stands for all that has no reason.
        let others = statistics.refused.filter { refusal in
            refusal.reason != 135
                && !statistics.held.contains { ($0.reason ?? 128) == refusal.reason && !$0.isPassing }
        }
        let refusedNow = refused.note(others.reduce(0) { $0 + $1.count }, now: now, for: Self.memory)
        let tooLargeNow = tooLarge.note(statistics.tooLarge, now: now, for: Self.memory)
        let refusedUs = credentials.note(statistics.credentialRefusals, now: now, for: Self.credentialMemory)
        if refusedUs, !statistics.connected { credentials.prolong(now: now, for: Self.credentialMemory) }
        return [
            (.mqttRefused, .warning, refusedNow ? Self.refused(others) : nil),
            (.mqttTooLarge, .warning, tooLargeNow ? Self.tooLarge(statistics) : nil),
            (.writeDenied, .error, Self.writeDenied(statistics)),
            (.mqttDeniedTopic, .warning, Self.readDenied(statistics)),
            (.duplicateID, .error, statistics.duplicate.map(Self.duplicate)),
            (.mqttPlaintextPassword, .warning, plaintext),
            (.mqttCredentials, .error, refusedUs ? Self.credentials(statistics) : nil),
        ]
    }

    private static func refused(_ refusals: [LinkStatistics.Refusal]) -> AlertBoard.Fault {
        let topics = refusals.map(\.topic).joined(separator: ", ")
        let details = refusals.map {
            Value.object([
                .init("reason", .int(Int64($0.reason))), .init("topic", .string($0.topic)),
                .init("count", .int(Int64(clamping: $0.count))),
            ])
        }
        let words =
            refusals.contains(where: \.isPassing)
            ? "; reason 131: it could not pass them to all who read them, as when a node of its cluster is away: bring the node back; until then they are sent again"
            : ""
        return ("the broker refused messages on \(topics)\(words)", .object([.init("refused", .array(details))]))
    }

    private static func tooLarge(_ statistics: LinkStatistics) -> AlertBoard.Fault {
        (
            "a message is larger than the broker accepts: \(statistics.lastTooLarge?.topic ?? "")",
            .object([
                .init("topic", .string(statistics.lastTooLarge?.topic ?? "")),
                .init("bytes", .int(Int64(statistics.lastTooLarge?.bytes ?? 0))),
                .init("count", .int(Int64(clamping: statistics.tooLarge))),
            ])
        )
    }

    /// Others' topics, such as Home Assistant's, only where the broker hangs up on them: nothing else depends on those.
    private static func writeDenied(_ statistics: LinkStatistics) -> AlertBoard.Fault? {
        let broken = statistics.held.filter(\.breaks)
        let refused = statistics.held.filter { $0.isOurs && !$0.breaks && $0.reason != 135 && !$0.isPassing }
        let denied = statistics.deniedTopics.filter { topic in !broken.contains { $0.topic == topic } }
        func list(_ topics: [String]) -> Value { .array(topics.map { .string($0) }) }
        var parts: [String] = []
        if !denied.isEmpty { parts.append("does not authorise publishing to \(denied.joined(separator: ", "))") }
        if !broken.isEmpty { parts.append("hangs up on messages to \(broken.map(\.topic).joined(separator: ", "))") }
        if !refused.isEmpty {
            let words = refused.map { "\($0.topic) (\($0.reason ?? 128))" }
            parts.append("refuses messages to \(words.joined(separator: ", "))")
        }
        guard !parts.isEmpty else { return nil }
        return (
            "the broker \(parts.joined(separator: " and ")): give \(remedy(statistics)); until then events are stored and tried again",
            .object([
                .init("write", list(denied)), .init("hangs_up", list(broken.map(\.topic))),
                .init("refused", list(refused.map(\.topic))),
            ])
        )
    }

    private static func remedy(_ statistics: LinkStatistics) -> String {
        let isForeign = statistics.held.contains { $0.breaks && !$0.isOurs }
        return "the station's account write access to these topics"
            + (isForeign ? ", or switch mqtt.home_assistant.enabled off where they are Home Assistant's" : "")
    }

    private static func readDenied(_ statistics: LinkStatistics) -> AlertBoard.Fault? {
        let commands = statistics.selfCheck.filter { $0.subject == .commands && $0.outcome == .denied }.map(\.topic)
        let read = statistics.refusedSubscriptions + commands
        guard !read.isEmpty else { return nil }
        return (
            "not authorised by the broker to read \(read.joined(separator: ", ")): give the station's account read access to these topics",
            .object([.init("read", .array(read.map { .string($0) }))])
        )
    }

    /// (The count alone changes without a new alert.)
    private static func duplicate(_ duplicate: LinkStatistics.Duplicate) -> AlertBoard.Fault {
        (
            duplicate.isSure
                ? "another station has the same id, and the broker disconnects each for the other: give one of them another station.id"
                : "connections end repeatedly and without a reason, probably because another station has the same id: give one of them another station.id",
            .object([
                .init("count", .int(Int64(clamping: duplicate.count))), .init("certain", .bool(duplicate.isSure)),
            ])
        )
    }

    private static func credentials(_ statistics: LinkStatistics) -> AlertBoard.Fault {
        (
            "the broker refused the credentials: \(statistics.lastCredentialRefusal)",
            .object([.init("count", .int(Int64(clamping: statistics.credentialRefusals)))])
        )
    }

    private static func plaintext(_ settings: MQTTConfiguration) -> AlertBoard.Fault? {
        let hasPassword = !settings.passwordFile.isEmpty || !settings.password.isEmpty
        guard !settings.username.isEmpty, hasPassword else { return nil }
        let open = settings.uris.filter { uri in
            guard let address = try? BrokerAddress(uri: uri) else { return false }
            return !address.tls && !address.isLoopback
        }
        guard !open.isEmpty else { return nil }
        return (
            "the password is sent unencrypted: use mqtts:// for \(open.joined(separator: ", "))",
            .object([.init("brokers", .array(open.map { .string($0) }))])
        )
    }

    /// Whether a counter has changed lately.
    private struct Lately {
        private var last: UInt64 = 0
        private var until: Int64?

        mutating func note(_ count: UInt64, now: Int64, for time: Int64) -> Bool {
            if count != last { until = now + time }
            last = count
            if let end = until, now >= end { until = nil }
            return until != nil
        }

        mutating func prolong(now: Int64, for time: Int64) { until = now + time }
    }
}

extension LinkStatistics {
    /// How it is with the broker, in one line.
    var summary: String {
        if connected { return version == .v311 ? "connected with MQTT 3.1.1" : "connected" }
        return isRefused ? "credentials refused: \(lastCredentialRefusal)" : "not connected"
    }
}
