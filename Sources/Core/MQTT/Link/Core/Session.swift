/// Everything that is known of one connection, and ends with it. An object, of which each connection has one of its own:
/// it is read several times for each message, and has too many parts to be copied as often.
final class Session {
    /// A message without acknowledgement.
    struct InFlight: Sendable {
        var id: Int32
        var ticket: OutgoingStore.Ticket
        var topic: String
        /// Bytes of payload when it is back-fill, else 0; an empty one counts as one.
        var backfillBytes = 0

        var isRetained: Bool { if case .retained = ticket { true } else { false } }
    }

    /// Messages that the end of a connection may have to do with.
    struct LastSent: Sendable {
        var topic: String
        var isRetained: Bool
        var at: UInt64
    }

    /// One message that goes alone, with nothing before and behind it, until it is known what comes of it.
    struct Trial: Sendable {
        var name: String
        var topic: String
        var id: Int32
        /// Acknowledged; when the connection lasts until then (ns), it was taken.
        var passesAt: UInt64?
        var message: InFlight?
        /// An empty message of the self-check, and whether it has come back.
        var isProbe = false
        var isProven = false
    }

    struct Subscription: Sendable {
        var filter: String
        /// Waits for an answer under this number until `deadline` (ns).
        var id: Int32
        var deadline: UInt64
        var purpose: Purpose
    }

    /// Purpose of a subscription.
    enum Purpose: Sendable {
        /// Messages of others to us.
        case messages
        /// The self-check alone.
        case check
        /// Values of a run before this one that the broker retains.
        case readBack

        /// Our own messages come back, and what is retained.
        var isCheck: Bool { self != .messages }
    }

    /// A subscription that the broker has refused, or did not answer.
    struct RefusedSubscription: Sendable {
        var filter: String
        /// When it is asked again, and how long after that the next time (ns).
        var at: UInt64
        var pause: UInt64
    }

    /// Index and address of the broker.
    let broker: Int
    let address: BrokerAddress
    let version: MQTTVersion
    /// When it came up (ns).
    let since: UInt64
    var limits: BrokerLimits
    var watch: ConnectionWatch
    var inFlight: [InFlight] = []
    /// QoS 0 messages that the library has not written yet.
    var unwritten = 0
    var trial: Trial?
    /// The last message that was refused, acknowledged, or written without acknowledgement.
    var lastRefusal: LastSent?
    var lastAcknowledged: LastSent?
    var lastUnacknowledged: LastSent?
    /// Subscriptions that are not answered yet.
    var pending: [Subscription] = []
    /// Subscriptions that are asked for again.
    var refused: [RefusedSubscription] = []
    var selfCheck: SelfCheck?
    var readBack: ReadBack?
    /// Number of the self-check's command while it is on its way.
    var probeID: Int32?
    /// When something that waits may leave though nothing else happens (ns).
    var sendableAt: UInt64?

    init(
        broker: Int, address: BrokerAddress, version: MQTTVersion, since: UInt64, limits: BrokerLimits,
        watch: ConnectionWatch
    ) {
        (self.broker, self.address, self.version, self.since) = (broker, address, version, since)
        (self.limits, self.watch) = (limits, watch)
    }

    /// True when no message is on its way.
    var isQuiet: Bool { inFlight.isEmpty && unwritten == 0 }

    /// True when no message is on its way, the self-check's included, so that one message can be tried alone.
    var isClear: Bool { isQuiet && trial == nil && probeID == nil }

    /// Back-fill without acknowledgement.
    var backfill: (count: Int, bytes: Int) {
        inFlight.reduce(into: (0, 0)) { sum, message in
            guard message.backfillBytes > 0 else { return }
            sum = (sum.0 + 1, sum.1 + message.backfillBytes)
        }
    }

    /// Removes and returns the message of this number, whose end is known.
    func takeInFlight(_ id: Int32) -> InFlight? {
        inFlight.firstIndex { $0.id == id }.map { inFlight.remove(at: $0) }
    }

    /// When something is due even if nothing happens (ns).
    var deadline: UInt64? {
        var first = earliest(earliest(watch.deadline, selfCheck?.deadline), messageDeadline)
        first = earliest(first, readBack?.deadline)
        for subscription in pending { first = earliest(first, subscription.deadline) }
        for subscription in refused { first = earliest(first, subscription.at) }
        return first
    }

    /// The same, of messages alone.
    var messageDeadline: UInt64? { earliest(sendableAt, trial?.passesAt) }

    /// Stands for the connection where there is none.
    static var none: Session {
        Session(
            broker: 0, address: BrokerAddress(host: "", port: 0, tls: false), version: .v5, since: 0,
            limits: BrokerLimits(), watch: ConnectionWatch(patience: 0))
    }
}

/// The end of a connection.
struct Loss: Sendable, Equatable {
    /// A sentence; nil: it was meant to end, and there is nothing to report.
    var reason: String?
    /// The peer hung up, or the line broke; `code` is its reason where it gave one (MQTT 5).
    var byPeer = false
    var code = 0
    /// It was given up because the peer was silent or acknowledged nothing.
    var isHalfOpen = false
    /// A packet of the peer's was malformed, and would have ended the process.
    var isMalformed = false
}

func earliest(_ a: UInt64?, _ b: UInt64?) -> UInt64? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
}
