import Messages

/// Reads back what a broker retains of topics of ours from a run before this one, once with each broker. Pure: says what
/// to subscribe to, and is told what comes of it.
///
/// The subscriptions are the first packets of a connection, before anything of this run. The broker's answer and the
/// retained values come within a round trip; a cluster may look a value up a little later. Until then the topics are not
/// emptied. What is sent to them comes back to us as well: that shows that we may read them. Where it does not come back,
/// nothing is known of what was retained.
struct ReadBack {
    /// How long the broker may take to answer, and to send our own value back (ns).
    static let patience: UInt64 = 10_000_000_000
    /// How long a retained value may come after the answer (ns).
    static let grace: UInt64 = 1_000_000_000

    enum State: Equatable {
        /// The subscriptions are not all answered.
        case asking
        case listening
        /// The topics may be emptied; a value of this run is waited for.
        case verifying
        /// With what is known of the right to read.
        case over(isReadable: Bool)
    }

    let topics: [String]
    private(set) var state = State.asking
    /// Time at which it is due even if nothing happens (ns).
    private(set) var deadline: UInt64?
    private var unanswered: [String]
    /// Retained values that have come.
    private var values: [InboundMessage] = []
    private var hasRead = false

    init(_ topics: [String], now: UInt64) {
        self.topics = topics
        unanswered = topics
        deadline = now + Self.patience
    }

    /// The topics must not be emptied yet.
    var isHolding: Bool { state == .asking || state == .listening }

    /// The broker has answered a subscription, or has not in time.
    mutating func answered(_ topic: String, isGranted: Bool, now: UInt64) {
        guard case .asking = state else { return }
        guard isGranted else { return end(isReadable: false) }
        unanswered.removeAll { $0 == topic }
        guard unanswered.isEmpty else { return }
        state = .listening
        deadline = now + Self.grace
        stopListening(now)
    }

    /// True when the message is on one of the topics.
    mutating func takes(_ message: InboundMessage, now: UInt64) -> Bool {
        guard topics.contains(message.topic) else { return false }
        hasRead = true
        // (The broker's answer may come behind the value.)
        if message.isRetained, !values.contains(where: { $0.topic == message.topic }) { values.append(message) }
        stopListening(now)
        if state == .verifying { end(isReadable: true) }
        return true
    }

    /// The values that were retained, each once, when the topics may be emptied.
    mutating func takeValues() -> [InboundMessage] {
        guard !isHolding else { return [] }
        defer { values.removeAll() }
        return values
    }

    /// - Parameter isBusy: what was sent has not left yet, so that no answer can be there.
    mutating func look(now: UInt64, isBusy: Bool) {
        guard let due = deadline, now >= due else { return }
        if isBusy {
            deadline = now + Self.grace
        } else if state == .listening {
            verify(now)
        } else {
            end(isReadable: hasRead)
        }
    }

    private mutating func stopListening(_ now: UInt64) {
        if state == .listening, values.count == topics.count { verify(now) }
    }

    private mutating func verify(_ now: UInt64) {
        if hasRead { return end(isReadable: true) }
        state = .verifying
        deadline = now + Self.patience
    }

    private mutating func end(isReadable: Bool) {
        state = .over(isReadable: isReadable)
        deadline = nil
    }
}
