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
