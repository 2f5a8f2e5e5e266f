/// Head of a message: what the link has to know besides its bytes. Copying one does not touch the heap.
public struct PublicationHeader: Sendable, Equatable {
    /// Full topic name.
    public var topic: String
    /// 0 or 1.
    public var qos: Int
    public var retain: Bool
    public var contentType: ContentType
    /// Seconds after which a broker may drop it (MQTT 5); nil: never.
    public var expiry: UInt32?
    public var priority: Priority
    /// The event it belongs to, for those who keep messages; nil: none.
    public var event: EventMark?
    /// Sent later than it was made, below `data/history`; with MQTT 5 it has the user property `hist=1`.
    public var isHistory = false
    /// Data by which the requester knows the answer (MQTT 5 correlation data); nil: none.
    public var correlation: [UInt8]?

    public init(
        topic: String, qos: Int, retain: Bool, contentType: ContentType = .json, expiry: UInt32? = nil,
        priority: Priority
    ) {
        self.topic = topic
        self.qos = qos
        self.retain = retain
        self.contentType = contentType
        self.expiry = expiry
        self.priority = priority
    }
}

/// Which part of which event a message is.
public struct EventMark: Sendable, Equatable {
    public enum Part: Int, Sendable, Comparable {
        case onset = 0
        case update, end, waveform
        public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    public var id: String
    public var part: Part

    public init(id: String, part: Part) {
        self.id = id
        self.part = part
    }
}

/// Importance of a message: the highest is dropped last when memory is short.
public enum Priority: Int, Sendable, CaseIterable {
    /// Life cycle, replies, events and their waveforms.
    case essential = 0
    /// Summaries and health.
    case state = 1
    /// Traces.
    case trace = 2
}

/// Content types on the wire.
public enum ContentType: String, Sendable {
    case text = "text/plain"
    case json = "application/json"
    case cbor = "application/cbor"
    case mseed = "application/vnd.fdsn.mseed"
}

/// Where a pure room puts its finished messages; the bytes are only valid during the call.
public typealias PublicationSink = (PublicationHeader, UnsafeRawBufferPointer) -> Void

/// A number for each class of message. Not an array, so that counting never touches the heap.
public struct ClassCounts: Sendable, Equatable {
    public var essential = 0
    public var state = 0
    public var trace = 0

    public init() {}

    public var total: Int { essential + state + trace }

    public subscript(priority: Priority) -> Int {
        get {
            switch priority {
            case .essential: essential
            case .state: state
            case .trace: trace
            }
        }
        set {
            switch priority {
            case .essential: essential = newValue
            case .state: state = newValue
            case .trace: trace = newValue
            }
        }
    }

    public static func + (a: ClassCounts, b: ClassCounts) -> ClassCounts {
        var sum = a
        sum.essential += b.essential
        sum.state += b.state
        sum.trace += b.trace
        return sum
    }
}

/// A message that the broker has for us. All of it comes from outside and must not be trusted.
public struct InboundMessage: Sendable, Equatable {
    public var topic: String
    /// Empty when the message is larger than `ConnectionOptions.inboundBytes`.
    public var payload: [UInt8]
    /// Bytes that were sent.
    public var size: Int
    /// It was kept by the broker from an earlier time, and is not for now.
    public var isRetained: Bool
    public var qos: Int
    /// Where an answer goes (MQTT 5).
    public var responseTopic: String?
    /// Data that an answer brings back (MQTT 5).
    public var correlation: [UInt8]?
    public var contentType: String?
    /// It came over MQTT 5. With 3.1.1 nobody can know whether who sent it wanted an answer on a topic of his own.
    public var hasProperties = true
    /// Number of the connection over which it came (see `LinkStatistics.connections`).
    public var connection: UInt64 = 0

    public var isTooLarge: Bool { payload.count < size }

    public init(topic: String, payload: [UInt8], isRetained: Bool = false, qos: Int = 1) {
        self.topic = topic
        self.payload = payload
        size = payload.count
        self.isRetained = isRetained
        self.qos = qos
    }
}

/// First members of every JSON object of the agent.
package struct Envelope {
    /// Nil: the object has a description of the station under this name.
    var station: String?
    /// UUID of this run.
    var boot: String
    var number: Int
    /// Nanoseconds of UTC.
    var time: Int64
    /// Quality of the times, in messages that are made of samples.
    var quality: TimeQuality?

    package init(station: String?, boot: String, number: Int, time: Int64, quality: TimeQuality?) {
        (self.station, self.boot, self.number) = (station, boot, number)
        (self.time, self.quality) = (time, quality)
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.integer("v", 1, "Version of the format.")
        f.text("station", station, "Id of the station; in `state/info` an object that describes it.")
        f.text("boot", boot, "UUID of this run of the agent.")
        f.integer("seq", number, "Counts the messages of this kind since the start, from 0.")
        f.time("t", time, "The time that the content refers to; for a block of samples, of the first one.")
        guard let quality else { return }
        f.object("tq", quality, "How good the times are.") { $0.fields(&$1) }
    }
}

/// Quality of the samples' times.
public struct TimeQuality: Sendable, Equatable {
    public enum Source: String, Sendable, CaseIterable { case ntp, gps, ptp, free, replay }
    public var synced: Bool
    public var source: Source
    public var errorMs: Double?

    public init(synced: Bool, source: Source, errorMs: Double? = nil) {
        self.synced = synced
        self.source = source
        self.errorMs = errorMs
    }

    /// The times written in a recording.
    public static let replay = TimeQuality(synced: false, source: .replay)

    package func fields(_ f: inout some FieldVisitor) {
        f.flag("synced", synced, "Whether the clock follows its source.")
        f.choice(
            "source", source,
            "What the clock follows: `ntp` (any program that steers it), `gps` (pulses of a receiver), `ptp`; `free`: nothing; `replay`: the times are those of a recording."
        )
        f.number("error_ms", errorMs, unit: "ms", "Estimated error of the clock; left out when not known.")
    }
}
