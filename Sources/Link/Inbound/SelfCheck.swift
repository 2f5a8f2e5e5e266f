/// Finds out after each connect whether our own topics can be written and our commands arrive. Pure: says what to
/// subscribe to and to publish, and is told what comes of it.
///
/// With MQTT 5 a broker says when it does not let us write (reason 135), which is seen without this. With 3.1.1 it takes
/// the message and throws it away; then only a look at our own topic can tell, if we may read it. So:
///
/// - Topics (3.1.1 only): they are subscribed to for a moment. What we publish comes back: verified. A retained value of
///   before comes, but what we publish does not: denied. Nothing comes: a broker with `pattern write …/state/#` alone lets
///   nobody read its own topics, which is no fault, so that nothing is known: unverifiable.
/// - Commands: a message of our own to `cmd/selfcheck` comes back: verified. The subscription is refused, or the broker
///   took the message as published (MQTT 5) and it does not come: denied. We may not write to it ourselves, as is well
///   with `pattern read …/cmd/#`, or nothing is known (3.1.1): unverifiable.
public struct SelfCheckFinding: Sendable, Equatable {
    public enum Subject: Sendable, Equatable { case writing, commands }
    public enum Outcome: Sendable, Equatable { case verified, denied, unverifiable }
    public var topic: String
    public var subject: Subject
    public var outcome: Outcome
}

struct SelfCheck {
    /// How long it is waited for what comes back (ns).
    static let patience: UInt64 = 10_000_000_000

    private struct Echo {
        var topic: String
        var isGranted = false
        var isReadable = false
        /// A message was acknowledged that the subscription was there for.
        var isWritten = false
        var isOver = false
    }

    private(set) var findings: [SelfCheckFinding] = []
    private(set) var deadline: UInt64?
    private let commandTopic: String
    private let version: LinkOptions.ProtocolVersion
    private var echoes: [Echo]
    private var nonce: [UInt8] = []
    private var commandIsOver: Bool
    private var commandWritten = false

    init(_ options: LinkOptions.SelfCheck, version: LinkOptions.ProtocolVersion, nonce: UInt64, now: UInt64) {
        commandTopic = options.commandTopic
        self.version = version
        echoes = version == .v311 ? options.echoTopics.map { Echo(topic: $0) } : []
        commandIsOver = commandTopic.isEmpty
        filters = (commandIsOver ? [] : [commandTopic]) + echoes.map(\.topic)
        self.nonce = Array(String(nonce, radix: 16).utf8)
        deadline = isOver ? nil : now + Self.patience
    }

    /// What to subscribe to, with QoS 1 and without the option that keeps our own messages away; the same to the end.
    let filters: [String]

    /// What to publish on the command topic.
    var probe: [UInt8] { nonce }

    var isOver: Bool { commandIsOver && echoes.allSatisfy(\.isOver) }

    /// The broker has answered a subscription. True when the probe is to be published now.
    mutating func subscribed(_ filter: String, isGranted: Bool) -> Bool {
        if filter == commandTopic {
            if !isGranted { endCommand(.denied) }
            return isGranted
        }
        guard let index = echoes.firstIndex(where: { $0.topic == filter }) else { return false }
        if isGranted { echoes[index].isGranted = true } else { endEcho(index, .unverifiable) }
        return false
    }

    /// The broker has answered the probe.
    mutating func probeEnded(reason: Int) {
        guard version == .v5 else { return }
        switch reason {
        case 16: endCommand(.denied)
        case 128...: endCommand(.unverifiable)
        default: commandWritten = true
        }
    }

    /// A message of ours was acknowledged.
    mutating func acknowledged(_ topic: String) {
        guard let index = echoes.firstIndex(where: { $0.topic == topic }) else { return }
        echoes[index].isWritten = true
    }

    /// True when the message is one of the check's own and nobody else's.
    mutating func takes(_ message: InboundMessage) -> Bool {
        if message.topic == commandTopic {
            guard message.payload == nonce else { return message.isRetained }
            endCommand(.verified)
            return true
        }
        guard let index = echoes.firstIndex(where: { $0.topic == message.topic }) else { return false }
        if message.isRetained { echoes[index].isReadable = true } else { endEcho(index, .verified) }
        return true
    }

    /// Waits once more: what was asked may not even have left.
    mutating func putOff(_ now: UInt64) {
        if deadline != nil { deadline = now + Self.patience }
    }

    /// The time is over: says what is known by now.
    mutating func conclude() {
        if !commandIsOver { endCommand(commandWritten ? .denied : .unverifiable) }
        for index in echoes.indices where !echoes[index].isOver {
            // Without a message there is nothing to be known.
            guard echoes[index].isWritten else {
                echoes[index].isOver = true
                continue
            }
            endEcho(index, echoes[index].isReadable ? .denied : .unverifiable)
        }
        deadline = nil
    }

    private mutating func endCommand(_ outcome: SelfCheckFinding.Outcome) {
        guard !commandIsOver else { return }
        commandIsOver = true
        findings.append(SelfCheckFinding(topic: commandTopic, subject: .commands, outcome: outcome))
    }

    private mutating func endEcho(_ index: Int, _ outcome: SelfCheckFinding.Outcome) {
        guard !echoes[index].isOver else { return }
        echoes[index].isOver = true
        findings.append(SelfCheckFinding(topic: echoes[index].topic, subject: .writing, outcome: outcome))
    }
}
