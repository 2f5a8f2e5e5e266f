import MQTT
import Messages
import Settings
import Values

extension AlertChapter {
    static let broker = AlertChapter(
        title: "Broker",
        alerts: [
            MQTTRefused.self, MQTTTooLarge.self, WriteDenied.self, MQTTDeniedTopic.self, DuplicateID.self,
            TopicOverwritten.self, BrokerLacks.self, MQTTPlaintextPassword.self, MQTTCredentials.self,
        ])
}

/// Nanoseconds that a refused or too large message stays an alert.
private let refusalMemory: Int64 = 60_000_000_000

struct MQTTRefused: Alert {
    static let declaration = AlertDeclaration(
        "mqtt_refused", .warning, "Messages refused",
        "The broker refuses messages. The alert stays for a minute.",
        remedy:
            "Read the reason in the broker's log: usually a limit on the size or the number of messages is too low. Reason "
            + "131 on a cluster of RabbitMQ: a node with a subscriber's session is away; bring it back. All others get "
            + "the messages",
        see: "[the connection](../understand/connection.md)",
        details: "`refused`: `topic`, `reason` code and `count` of each.")

    private var refused = RecentChange()

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        // What lasts is said for as long as it does; 128 stands for all that has no reason.
        let refusals = facts.link.refused.filter { refusal in
            refusal.reason != 135
                && !facts.link.held.contains { ($0.reason ?? 128) == refusal.reason && !$0.isPassing }
        }
        guard refused.note(refusals.reduce(0) { $0 + $1.count }, now: facts.now, for: refusalMemory) else { return nil }
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
        return AlertFault(
            "the broker refused messages on \(topics)\(words)", .object([.init("refused", .array(details))]))
    }
}

struct MQTTTooLarge: Alert {
    static let declaration = AlertDeclaration(
        "mqtt_too_large", .warning, "Message too large",
        "A message is larger than the broker takes. The alert stays for a minute.",
        remedy:
            "Raise the broker's `max_packet_size` or `message_size_limit` (or `mqtt.max_packet_bytes`, where it is set), or "
            + "lower `waveform.chunk_s`",
        details: "`topic`, `bytes`, `count`.")

    private var tooLarge = RecentChange()

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        let link = facts.link
        guard tooLarge.note(link.tooLarge, now: facts.now, for: refusalMemory) else { return nil }
        return AlertFault(
            "a message is larger than the broker accepts: \(link.lastTooLarge?.topic ?? "")",
            .object([
                .init("topic", .string(link.lastTooLarge?.topic ?? "")),
                .init("bytes", .int(Int64(link.lastTooLarge?.bytes ?? 0))),
                .init("count", .int(Int64(clamping: link.tooLarge))),
            ]))
    }
}

struct WriteDenied: Alert {
    static let declaration = AlertDeclaration(
        "write_denied", .error, "No right to publish",
        "The broker does not let the station write some of its topics, or closes the connection over them. "
            + "Events wait on disk.",
        remedy:
            "Grant the account the right to write them (on the broker's machine `sudo seismote-broker invite STATION`, "
            + "on the board `sudo seismote join` with its line)",
        see: "[a broker with TLS](../install/encryption.md#3-rights)", check: "rights")

    /// Others' topics, such as Home Assistant's, only where the broker hangs up on them: nothing else depends on those.
    func look(_ facts: AlertFacts) -> AlertFault? {
        let link = facts.link
        let broken = link.held.filter(\.breaks)
        let refused = link.held.filter { $0.isOurs && !$0.breaks && $0.reason != 135 && !$0.isPassing }
        let denied = link.deniedTopics.filter { topic in !broken.contains { $0.topic == topic } }
        func list(_ topics: [String]) -> Value { .array(topics.map { .string($0) }) }
        var parts: [String] = []
        if !denied.isEmpty { parts.append("does not authorise publishing to \(denied.joined(separator: ", "))") }
        if !broken.isEmpty { parts.append("hangs up on messages to \(broken.map(\.topic).joined(separator: ", "))") }
        if !refused.isEmpty {
            let words = refused.map { "\($0.topic) (\($0.reason ?? 128))" }
            parts.append("refuses messages to \(words.joined(separator: ", "))")
        }
        guard !parts.isEmpty else { return nil }
        return AlertFault(
            "the broker \(parts.joined(separator: " and ")): give \(remedy(broken)); until then events are stored and tried again",
            .object([
                .init("write", list(denied)), .init("hangs_up", list(broken.map(\.topic))),
                .init("refused", list(refused.map(\.topic))),
            ]))
    }

    private func remedy(_ broken: [LinkStatistics.Held]) -> String {
        "the station's account write access to these topics"
            + (broken.contains { !$0.isOurs }
                ? ", or switch mqtt.home_assistant.enabled off where they are Home Assistant's" : "")
    }
}

struct MQTTDeniedTopic: Alert {
    static let declaration = AlertDeclaration(
        "mqtt_denied_topic", .warning, "No right to read commands",
        "The broker does not send the station its commands.",
        remedy: "Grant the account the right to read `<root>/<id>/cmd/#` and `<root>/group/+/cmd/#`",
        details: "`read`: the topics.", check: "rights")

    func look(_ facts: AlertFacts) -> AlertFault? {
        let commands = facts.link.selfCheck.filter { $0.subject == .commands && $0.outcome == .denied }.map(\.topic)
        let read = facts.link.refusedSubscriptions + commands
        guard !read.isEmpty else { return nil }
        return AlertFault(
            "not authorised by the broker to read \(read.joined(separator: ", ")): give the station's account read access to these topics",
            .object([.init("read", .array(read.map { .string($0) }))]))
    }
}

struct DuplicateID: Alert {
    static let declaration = AlertDeclaration(
        "duplicate_id", .error, "Two stations with one id",
        "Two stations have the same id, or another program has the station's client id: they displace each other at the "
            + "broker, and messages that it kept for the station may go to the other.",
        remedy:
            "Give one of the two another `station.id` in its settings file, and an account of its own; after a move, stop "
            + "the old board",
        see:
            "[moving to another board](../install/another-board.md), and [who can take a client id](../understand/security.md#client-ids)",
        details: "`certain`: whether it is certain; `count`: how often it was seen.", check: "identity")

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard let duplicate = facts.link.duplicate else { return nil }
        return AlertFault(
            duplicate.isSure
                ? "taken over \(duplicate.count) times: another client has this station's client id, and the broker disconnects each for the other: give a second station another station.id, any other program another client id"
                : "connections ended \(duplicate.count) times without a reason, probably taken over by another client with this station's client id: give a second station another station.id, any other program another client id",
            .object([
                .init("count", .int(Int64(clamping: duplicate.count))), .init("certain", .bool(duplicate.isSure)),
            ]))
    }
}

struct TopicOverwritten: Alert {
    static let declaration = AlertDeclaration(
        "topic_overwritten", .warning, "Others write the station's topics",
        "Somebody else writes retained topics of the station: three times or more on one of them. It publishes its own "
            + "value again each time. The alert stays for ten minutes after the last one.",
        remedy:
            "Look for another station with the same id, for a bridge that brings messages of before, or for a program that "
            + "writes there; give only the station's account the right to write its topics",
        see: "[the connection](../understand/connection.md#what-others-write)",
        details: "`topics`; `count`: how often.")

    /// (The count alone changes without a new alert.)
    func look(_ facts: AlertFacts) -> AlertFault? {
        guard let found = facts.link.overwritten else { return nil }
        let topics = found.topics.joined(separator: ", ")
        return AlertFault(
            "somebody else writes \(topics): another station with this id, a bridge, or a program; the station publishes its own value again",
            .object([
                .init("topics", .array(found.topics.map { .string($0) })),
                .init("count", .int(Int64(clamping: found.count))),
            ]))
    }
}

struct BrokerLacks: Alert {
    static let declaration = AlertDeclaration(
        "broker_lacks", .warning, "Broker without retained messages or QoS 1",
        "The broker takes no retained messages, or nothing above QoS 0. Without retained messages nobody who comes later "
            + "finds the station's state; with QoS 0 messages are lost with the connection.",
        remedy:
            "Switch it on at the broker (mosquitto: `retain_available true`, `max_qos 2`), or use another broker",
        see: "[brokers that differ](../understand/connection.md#measured-with-other-brokers)",
        details: "`retained`, `qos1`: whether that is missing; `said`: whether the broker has said so (MQTT 5).")

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard let lacks = facts.link.lacks else { return nil }
        let what = [lacks.retained ? "retained messages" : nil, lacks.qos1 ? "QoS 1" : nil].compactMap { $0 }
            .joined(separator: " or ")
        return AlertFault(
            lacks.isSaid
                ? "the broker does not take \(what)"
                : "the broker seems not to take \(what): it hangs up on a last will that asks for it",
            .object([
                .init("retained", .bool(lacks.retained)), .init("qos1", .bool(lacks.qos1)),
                .init("said", .bool(lacks.isSaid)),
            ]))
    }
}

struct MQTTPlaintextPassword: Alert {
    static let declaration = AlertDeclaration(
        "mqtt_plaintext_password", .warning, "Password sent unencrypted",
        "The station sends its password over the network without encryption.",
        remedy: "Use `mqtts://` in `mqtt.uri`", see: "[a broker with TLS](../install/encryption.md)",
        details: "`brokers`: their addresses.")

    func look(_ facts: AlertFacts) -> AlertFault? {
        let settings = facts.mqtt
        let hasPassword = !settings.passwordFile.isEmpty || !settings.password.isEmpty
        guard !settings.username.isEmpty, hasPassword else { return nil }
        let open = settings.uris.filter { uri in
            guard let address = try? BrokerAddress(uri: uri) else { return false }
            return !address.tls && !address.isLoopback
        }
        guard !open.isEmpty else { return nil }
        return AlertFault(
            "the password is sent unencrypted: use mqtts:// for \(open.joined(separator: ", "))",
            .object([.init("brokers", .array(open.map { .string($0) }))]))
    }
}

/// The alert of refused credentials, which leaves only when the broker accepts us again.
struct MQTTCredentials: Alert {
    static let declaration = AlertDeclaration(
        "mqtt_credentials", .error, "Credentials refused",
        "The broker does not accept the account, the password or the client id. The alert is published for ten "
            + "minutes once the broker accepts the station again; until then the log has it.",
        remedy:
            "Compare `mqtt.username` and the file `mqtt.password_file` with the broker's accounts, or make them again: `sudo "
            + "seismote setup`. Where the broker takes some client ids only (mosquitto's `clientid_prefixes`), set "
            + "`mqtt.client_id`",
        details: "`count`: how often; `client_id`.")

    private static let memory: Int64 = 600_000_000_000
    private var credentials = RecentChange()

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        let link = facts.link
        guard credentials.note(link.credentialRefusals, now: facts.now, for: Self.memory) else { return nil }
        if !link.connected { credentials.prolong(now: facts.now, for: Self.memory) }
        return AlertFault(
            "the broker refused the connection: \(link.lastCredentialRefusal): the account, the password, or the client id \(link.clientID) (mqtt.client_id)",
            .object([
                .init("count", .int(Int64(clamping: link.credentialRefusals))),
                .init("client_id", .string(link.clientID)),
            ]))
    }
}
