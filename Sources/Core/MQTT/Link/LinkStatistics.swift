import Messages

/// Counters of the link since it was made, and what waits now.
public struct LinkStatistics: Sendable, Equatable {
    /// A message that was not sent for its size.
    public struct TooLarge: Sendable, Equatable {
        public var topic: String
        /// Bytes of payload.
        public var bytes: Int
    }

    /// MQTT 5 reason and how often a publication was refused with it.
    public struct RefusedMessages: Sendable, Equatable {
        public var reason: Int
        public var count: UInt64
        /// Topic of the last message that this happened to.
        public var topic = ""
        /// Not a permission error: the broker could not deliver the message this time.
        public var isPassing: Bool { Refusals.isPassing(reason) }
    }

    public var connected = false
    /// Version spoken with the broker; nil while there is no connection.
    public var version: MQTTVersion?
    /// Bytes of a packet that this connection, or the last one, takes at most; nil: nobody has said it.
    public internal(set) var packetLimit: Int?
    /// Connections that came up.
    public var connects: UInt64 = 0
    /// Number of the present or last connection; each has a higher one than those before it, not always by one. What
    /// `Link.change` returns is below the number of every connection with the changed options.
    public var connections: UInt64 = 0
    /// Attempts that did not.
    var failedAttempts: UInt64 = 0
    /// Attempts among those in which the broker did not accept our credentials, and its last answer.
    public var credentialRefusals: UInt64 = 0
    public var lastCredentialRefusal = ""
    /// The client id that they were refused with.
    public var clientID = ""
    /// The last attempt ended like that.
    public var isRefused = false
    /// Connections that were given up because the peer was silent or acknowledged nothing.
    var halfOpen: UInt64 = 0
    /// Messages handed to a connected broker, of any QoS.
    public var published: UInt64 = 0
    /// QoS 1 messages that the broker took.
    public var acked: UInt64 = 0
    /// QoS 1 messages that the broker refused, by reason. With 3.1.1 a broker cannot say so.
    public var refused: [RefusedMessages] = []
    /// Not sent because they are larger than the broker takes.
    public var tooLarge: UInt64 = 0
    public var lastTooLarge: TooLarge?
    /// Topics, or filters of such, whose messages are held back and tried again ever more rarely.
    public struct Held: Sendable, Equatable {
        public var topic: String
        /// Reason that the broker gave (MQTT 5); nil: none.
        public var reason: Int?
        /// It hangs up on them.
        public var breaks = false
        /// Below our own base.
        public var isOurs = true
        /// Not a permission error: the broker could not deliver the message this time.
        public var isPassing: Bool { reason.map(Refusals.isPassing) == true && !breaks }
    }
    public var held: [Held] = []
    /// Topics of ours that the broker does not let us write (reason 135, or seen by the self-check), until it does.
    public var deniedTopics: [String] = []
    /// Topics found to break connections: held back from then on.
    public var abandoned: UInt64 = 0

    /// Another station has our client id.
    public struct Duplicate: Sendable, Equatable {
        /// Times that it took our place.
        public var count: UInt64
        /// The broker has said so, or the other station's value was read on our topic.
        public var isSure: Bool
    }
    public var duplicate: Duplicate?
    /// Features that the broker of this connection lacks.
    public struct Lacks: Sendable, Equatable {
        public var retained: Bool
        public var qos1: Bool
        /// It has said so (MQTT 5); false: it hung up on a last will that has them (3.1.1).
        public var isSaid: Bool
    }
    public var lacks: Lacks?
    /// Retained topics of ours that somebody else writes again and again, and how often.
    public struct Overwritten: Sendable, Equatable {
        public var topics: [String]
        public var count: UInt64
    }
    public var overwritten: Overwritten?
    /// QoS 0 messages that were with the library when the connection broke.
    var lostInFlight: UInt64 = 0
    /// Messages dropped from the full queue.
    public var dropped = ClassCounts()
    /// Retained values replaced by a newer one before they could be sent.
    public var replaced: UInt64 = 0
    /// Messages that came in, and such that were larger than we take.
    public var received: UInt64 = 0
    var receivedTooLarge: UInt64 = 0
    /// Subscriptions of this connection that the broker refused or did not answer.
    public var refusedSubscriptions: [String] = []
    /// Findings of this connection's self-check; empty until it is over.
    public var selfCheck: [SelfCheckFinding] = []
    /// Whether what the broker retains of us can be read (`LinkOptions.readBack`); nil: not known yet.
    public var canReadBack: Bool?
    /// Waiting now, and the bytes of all that is not yet acknowledged.
    public var queueMessages = 0
    public var queueBytes = 0
    /// Seconds that the oldest of them has waited.
    public var oldest = 0.0
    /// QoS 1 messages sent and not yet acknowledged.
    public var inFlight = 0
    /// Most of them at any time.
    var inFlightPeak = 0

    /// Messages from disk among those acknowledged; and those that wait for their turn now.
    var backfilled: UInt64 = 0
    var backfillWaiting = 0
    /// Kept messages that lost their place in memory to newer ones and come back from disk.
    public var displaced: UInt64 = 0
    /// Essential messages that nobody has taken to keep.
    var unkept = 0

    public init() {}

    mutating func countRefusal(_ reason: Int, topic: String) {
        if let index = refused.firstIndex(where: { $0.reason == reason }) {
            refused[index].count += 1
            refused[index].topic = topic
        } else {
            refused.append(RefusedMessages(reason: reason, count: 1, topic: topic))
            refused.sort { $0.reason < $1.reason }
        }
    }

    /// The options are others: what was known of rights is not known any more.
    mutating func forgetRights() {
        isRefused = false
        (deniedTopics, held, duplicate, overwritten) = ([], [], nil, nil)
        refusedSubscriptions = []
        selfCheck = []
        canReadBack = nil
    }
}

/// Event of the connection, for logs and alerts; handed out on the link's own thread.
public enum LinkEvent: Sendable, Equatable {
    case connecting(BrokerAddress)
    case connected(BrokerAddress, MQTTVersion)
    /// The broker refuses MQTT 5, or hangs up on it: 3.1.1 is tried next.
    case fallingBack(BrokerAddress)
    public enum SubscriptionFailure: Sendable, Equatable {
        /// With this reason (MQTT 5) or 128 (3.1.1).
        case refused(Int)
        /// Not within 10 s.
        case unanswered
        /// A filter that is none.
        case impossible
    }
    /// Messages to this filter do not reach us.
    case notSubscribed(filter: String, SubscriptionFailure)
    /// The self-check of a connection is over.
    case checked([SelfCheckFinding])
    /// A value that the broker retains of a run before this one.
    case readBack(InboundMessage)
    /// The broker does not let us read these topics of ours: nothing is known of what it retains there.
    case cannotReadBack([String])
    /// An attempt failed or a connection broke; the sentence says why, the number when it is tried again (seconds).
    case disconnected(BrokerAddress, reason: String, retryIn: Double)
    /// The broker refused a publication.
    case refused(topic: String, reason: Int)
    /// A message is larger than the broker takes and was not sent.
    case tooLarge(topic: String, bytes: Int)
    /// Somebody else has written this retained topic of ours: our own value is sent again.
    case overwritten(topic: String)
    /// Connections broke over this topic three times: its messages are held back from now on.
    case abandoned(topic: String)

    /// Sentence for a program that logs by the line; nil: nothing.
    public var sentence: String? {
        switch self {
        case .connected(let broker, _): "connected to \(broker)"
        case .disconnected(let broker, let reason, let pause):
            "not connected to \(broker): \(reason); next attempt in \(Int(pause.rounded(.up))) s"
        case .notSubscribed(let filter, let reason): "not subscribed to \(filter): \(reason)"
        case .refused(let topic, let reason): "the broker refuses \(topic): reason \(reason)"
        default: nil
        }
    }
}
