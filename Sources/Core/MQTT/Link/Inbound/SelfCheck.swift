import Messages

/// Finds out after each connect whether our own topics can be written and our commands arrive. Pure: says what to
/// subscribe to and to publish, and is told what comes of it.
///
/// With MQTT 5 a broker says when it does not let us write (reason 135), which is seen without this. With 3.1.1 it takes
/// the message and throws it away; then only a look at our own topics can tell, if we may read them. So:
///
/// - Topics (3.1.1 only): they are subscribed to for a moment. What we publish comes back: verified. It does not, though a
///   retained value of before does, or what we publish to another topic: denied. Nothing comes at all: a broker with
///   `pattern write …/#` alone lets nobody read its own topics, which is no fault, so that nothing is known:
///   unverifiable. Where nothing is published by itself, an empty message goes to a topic next to the real ones, which
///   readers do not know; an account may read those topics alone, so that one that comes back says nothing of what else
///   may be read.
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
    /// How long the check waits for what comes back (ns).
    static let patience: UInt64 = 10_000_000_000

    private struct Echo {
        /// Covers topics that have the same rights.
        var filter: String
        /// Where an empty message goes, not before it was asked for.
        var probe: String?
        var isGranted = false
        var isReadable = false
        /// A message was acknowledged that the subscription was there for.
        var isWritten = false
        var isProbed = false
        var isOver = false
    }

    private(set) var findings: [SelfCheckFinding] = []
    private(set) var deadline: UInt64?
    /// Our own topic has a value that another station published.
    private(set) var isForeign = false
    private let options: LinkOptions.SelfCheck
    private let version: MQTTVersion
    private var echoes: [Echo]
    private var nonce: [UInt8] = []
    private var commandIsOver: Bool
    private var commandWritten = false

    /// - Parameters:
    ///   - probes: empty messages are sent as well.
    ///   - looksForOthers: at what stands on our own topic, with MQTT 5 too.
    init(
        _ options: LinkOptions.SelfCheck, version: MQTTVersion, probes: Bool = true,
        looksForOthers: Bool = false, nonce: UInt64, now: UInt64
    ) {
        self.options = options
        self.version = version
        echoes = []
        if version == .v311 {
            echoes = options.echoTopics.map { Echo(filter: $0) }
            if probes { echoes += options.probes.map { Echo(filter: $0.filter, probe: $0.topic) } }
        }
        commandIsOver = options.commandTopic.isEmpty
        // First, so that the answer comes before the end of the rest.
        let others = looksForOthers && version == .v5 && !options.identityTopic.isEmpty ? [options.identityTopic] : []
        filters = others + (commandIsOver ? [] : [options.commandTopic]) + echoes.map(\.filter)
        self.nonce = Array(String(nonce, radix: 16).utf8)
        deadline = isOver ? nil : now + Self.patience
    }

    /// Filters to subscribe to, with QoS 1 and without the option that keeps our own messages away; the same to the
    /// end.
    let filters: [String]

    /// Payload to publish on the command topic.
    var probe: [UInt8] { nonce }

    var isOver: Bool { commandIsOver && echoes.allSatisfy(\.isOver) }

    /// Where an empty message is to go next, alone.
    var nextProbe: String? { echoes.first { $0.isGranted && !$0.isOver && !$0.isProbed && $0.probe != nil }?.probe }

    func isProbe(_ topic: String) -> Bool { echoes.contains { $0.probe == topic } }

    /// The filter that the topic of an empty message stands for.
    func filter(ofProbe topic: String) -> String? { echoes.first { $0.probe == topic }?.filter }

    mutating func probed(_ topic: String) {
        if let index = echoes.firstIndex(where: { $0.probe == topic }) { echoes[index].isProbed = true }
    }

    /// Looks once more at what was denied.
    mutating func again(_ topic: String, now: UInt64) {
        guard let index = echoes.firstIndex(where: { $0.probe == topic }) else { return }
        let filter = echoes[index].filter
        findings.removeAll { $0.topic == filter }
        (echoes[index].isOver, echoes[index].isWritten, echoes[index].isProbed) = (false, false, true)
        deadline = now + Self.patience
    }

    /// The broker has answered a subscription. True when the probe is to be published now.
    mutating func subscribed(_ filter: String, isGranted: Bool) -> Bool {
        if filter == options.commandTopic {
            if !isGranted { endCommand(.denied) }
            return isGranted
        }
        guard let index = echoes.firstIndex(where: { $0.filter == filter }) else { return false }
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
        for index in echoes.indices where echoes[index].filter.takes(topic) { echoes[index].isWritten = true }
    }

    /// True when the message is one of the check's own and nobody else's.
    mutating func takes(_ message: InboundMessage) -> Bool {
        if message.topic == options.commandTopic {
            guard message.payload == nonce else { return message.isRetained }
            endCommand(.verified)
            return true
        }
        if message.isRetained, message.topic == options.identityTopic, !message.isTooLarge {
            isForeign = !message.payload.contains(options.identity)
        }
        guard let index = echoes.firstIndex(where: { $0.filter.takes(message.topic) }) else {
            return message.topic == options.identityTopic
        }
        if message.isRetained { echoes[index].isReadable = true } else { verify(index) }
        return true
    }

    /// Also after it was found denied.
    private mutating func verify(_ index: Int) {
        let filter = echoes[index].filter
        if echoes[index].isOver { findings.removeAll { $0.topic == filter && $0.outcome != .verified } }
        if !findings.contains(where: { $0.topic == filter }) { echoes[index].isOver = false }
        endEcho(index, .verified)
    }

    /// Begins the wait anew: the question may not even have left.
    mutating func putOff(_ now: UInt64) {
        if deadline != nil { deadline = now + Self.patience }
    }

    /// The time is over: what is known by now becomes the finding.
    mutating func conclude() {
        if !commandIsOver { endCommand(commandWritten ? .denied : .unverifiable) }
        // Who may read one of them usually may read all, or all that the empty messages go to.
        func isVerified(_ echo: Echo) -> Bool {
            findings.contains { $0.topic == echo.filter && $0.outcome == .verified }
        }
        let mayReadAll = echoes.contains { $0.probe == nil && isVerified($0) }
        let mayReadProbes = mayReadAll || echoes.contains { $0.probe != nil && isVerified($0) }
        for index in echoes.indices where !echoes[index].isOver {
            // Without a message nothing can be known.
            guard echoes[index].isWritten else {
                echoes[index].isOver = true
                continue
            }
            let mayRead = echoes[index].probe == nil ? mayReadAll : mayReadProbes
            endEcho(index, echoes[index].isReadable || mayRead ? .denied : .unverifiable)
        }
        deadline = nil
    }

    private mutating func endCommand(_ outcome: SelfCheckFinding.Outcome) {
        guard !commandIsOver else { return }
        commandIsOver = true
        findings.append(SelfCheckFinding(topic: options.commandTopic, subject: .commands, outcome: outcome))
    }

    private mutating func endEcho(_ index: Int, _ outcome: SelfCheckFinding.Outcome) {
        guard !echoes[index].isOver else { return }
        echoes[index].isOver = true
        findings.append(SelfCheckFinding(topic: echoes[index].filter, subject: .writing, outcome: outcome))
    }
}

extension [UInt8] {
    /// Whether these bytes are somewhere in it.
    func contains(_ other: [UInt8]) -> Bool {
        guard !other.isEmpty, count >= other.count else { return other.isEmpty }
        return (0...count - other.count).contains { self[$0...].starts(with: other) }
    }
}
