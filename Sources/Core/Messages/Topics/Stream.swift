/// The kinds of message the agent sends; each counts its own `seq`.
public enum Stream: Int, Sendable, CaseIterable {
    case online, info, config, configSchema, summary, health, alert, trigger, last, trace, waveform, reply, log
    /// Traces that a command asked for.
    case stream
    /// The open event, and the few numbers that an overview shows.
    case current, level
    /// A summary now and then, for those who write down all that they get.
    case digest
    /// Vibration of one interval, and natural modes of a period.
    case vibration, modes
    /// Progress of an update.
    case update
    /// Expectation of an earthquake that the network has seen.
    case warning

    /// How the messages of this stream travel: the one table of quality of service, retention, content type, expiry
    /// and priority.
    public var delivery: Delivery {
        switch self {
        case .online: Delivery(qos: 1, retain: true, content: .text, expiry: nil, priority: .essential)
        case .info, .update: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        case .config: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        case .configSchema: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        case .summary, .digest: Delivery(qos: 0, retain: true, content: .json, expiry: nil, priority: .state)
        case .health: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .state)
        case .alert: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        // The expiry of onsets and updates; ends do not expire, see `Messenger`.
        case .trigger: Delivery(qos: 1, retain: false, content: .json, expiry: 3600, priority: .essential)
        // The next run of the agent reads it back, to close an event that a power cut has interrupted: it may be long.
        case .current: Delivery(qos: 1, retain: true, content: .json, expiry: 30 * 86_400, priority: .essential)
        case .level: Delivery(qos: 0, retain: true, content: .json, expiry: nil, priority: .state)
        case .last: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        case .trace, .stream: Delivery(qos: 1, retain: false, content: .json, expiry: 60, priority: .trace)
        // (Not retained: what is goes past the disk, and these are stored.)
        case .vibration, .modes: Delivery(qos: 1, retain: false, content: .json, expiry: nil, priority: .essential)
        // (Who connects during one has to know of it; after it, nobody.)
        case .warning: Delivery(qos: 1, retain: true, content: .json, expiry: 300, priority: .essential)
        case .waveform: Delivery(qos: 1, retain: false, content: .mseed, expiry: nil, priority: .essential)
        case .reply: Delivery(qos: 1, retain: false, content: .json, expiry: 3600, priority: .essential)
        case .log: Delivery(qos: 0, retain: false, content: .json, expiry: nil, priority: .trace)
        }
    }

    /// Its numbers are written as 32-bit floats, which is what a sensor can tell; those of others keep all digits.
    var isSingle: Bool {
        switch self {
        case .summary, .level, .trace, .stream, .vibration, .modes: true
        default: false
        }
    }
}

/// One line of that table.
public struct Delivery: Sendable, Equatable {
    public var qos: Int
    public var retain: Bool
    public var content: ContentType
    /// Seconds after which a broker may drop the message; nil: never.
    public var expiry: UInt32?
    public var priority: Priority

    /// The header of a message on a topic.
    public func header(topic: String) -> PublicationHeader {
        PublicationHeader(
            topic: topic, qos: qos, retain: retain, contentType: content, expiry: expiry, priority: priority)
    }
}
