/// Everything the link has to know about a message besides its bytes. Copying one does not touch the heap.
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

/// What is dropped last when memory is short.
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
    case mseed = "application/vnd.fdsn.mseed"
}

/// Where a pure room puts its finished messages; the bytes are only valid during the call.
public typealias PublicationSink = (PublicationHeader, UnsafeRawBufferPointer) -> Void
