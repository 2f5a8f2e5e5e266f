/// Finds the message over which a broker hangs up, among those that were on their way. Pure.
///
/// A broker that takes no message as large as this, or none on this topic, may close the connection without a word:
/// MQTT 3.1.1 has no other way, and some have a limit that they do not announce. So does a bad line. After two connections
/// in a row that the peer closed while something was on its way, messages go one at a time: then only the one that is on its way
/// alone, after others were acknowledged in the same connection, can be the cause, and it is given up when that happens
/// again and again. Nothing is given up for connections that never get as far.
struct Suspicion: Sendable, Equatable {
    /// What broke a connection: a state is the same with another value, a message only with the same content.
    enum Culprit: Sendable, Equatable {
        case state(topic: String)
        case message(fingerprint: UInt64)
    }

    /// Connections that end over the same state before it is given up. It is tried again later (`Pardon`).
    static let patience = 3
    /// The same for a message that is not said again by itself: a bad line breaks connections too.
    static let messagePatience = 10
    /// Such connections after which messages go one at a time.
    static let fruitlessLimit = 2
    /// So many acknowledgements in a row say that the line is well, even if more is always waiting.
    static let well = 1000

    enum Verdict: Sendable, Equatable {
        /// What was not acknowledged stays with the library, which sends it again.
        case leave
        /// It is to be taken back, so that the next connection can send it one at a time.
        case recall
        /// The message that was on its way is given up, the others are taken back.
        case giveUp
    }

    /// No more than one message may be on its way.
    private(set) var oneAtATime = false
    private var fruitless = 0
    private var culprit: Culprit?
    private var strikes = 0
    private var acknowledgements = 0
    /// A state that was given up before is among those that are sent: one end is enough.
    private var isPardoned = false

    /// A connection broke.
    /// - Parameters:
    ///   - byPeer: the other side, or the line, has ended it.
    ///   - waiting: messages without acknowledgement.
    ///   - oldest: the one of them that has waited longest.
    mutating func broke(byPeer: Bool, waiting: Int, oldest: Culprit?) -> Verdict {
        let acknowledged = acknowledgements > 0
        acknowledgements = 0
        guard waiting > 0 else { return .leave }
        guard oneAtATime else {
            // What is acknowledged before may be nothing but the states that each connection begins with.
            fruitless += byPeer ? 1 : 0
            guard fruitless >= Self.fruitlessLimit else { return .leave }
            (oneAtATime, fruitless) = (true, 0)
            return .recall
        }
        guard byPeer, acknowledged, waiting == 1, let oldest else { return .recall }
        strikes = culprit == oldest ? strikes + 1 : 1
        culprit = oldest
        let patience =
            switch oldest {
            case .message: Self.messagePatience
            case .state: isPardoned ? 1 : Self.patience
            }
        guard strikes >= patience else { return .recall }
        (culprit, strikes) = (nil, 0)
        return .giveUp
    }

    mutating func acknowledged() {
        acknowledgements += 1
        if oneAtATime, acknowledgements >= Self.well { rested() }
    }

    /// All that there was has been acknowledged.
    mutating func rested() {
        (oneAtATime, isPardoned, fruitless) = (false, false, 0)
        (culprit, strikes) = (nil, 0)
    }

    /// A state that was given up gets another chance.
    mutating func pardon() { (oneAtATime, isPardoned) = (true, true) }
}

/// When states that were given up are tried again: it may have been the line after all. Pure.
struct Pardon: Sendable, Equatable {
    /// The first wait, and the longest (ns); each is twice the one before, however many states it is for.
    static let first: UInt64 = 10_000_000_000
    static let longest: UInt64 = 86_400_000_000_000

    private var wait = first
    private var due: UInt64?

    mutating func gaveUp(now: UInt64) {
        guard due == nil else { return }
        due = now + wait
        wait = min(2 * wait, Self.longest)
    }

    /// True once when the time has come. To be asked when all else has been acknowledged.
    mutating func take(now: UInt64) -> Bool {
        guard let due, now >= due else { return false }
        self.due = nil
        return true
    }

    /// Nothing is given up any more.
    mutating func reset() { if due == nil { wait = Self.first } }
}
