import Messages

/// Event of a connection, in its order.
package enum MQTTEvent: Equatable {
    case connected(BrokerLimits)
    /// CONNACK with this code.
    case refused(code: Int, reason: String)
    /// The attempt failed or the connection broke; by the peer's doing when it hung up on a connection that was there, for
    /// this reason where it gives one (MQTT 5); or a packet of the peer's was malformed, and would
    /// have ended the process.
    case lost(reason: String, byPeer: Bool = false, code: Int = 0, isMalformed: Bool = false)
    /// A subscription was answered, with the granted QoS or a reason of 128 and above.
    case subscribed(id: Int32, code: Int)
    case message(InboundMessage)
    /// Bytes have come from the broker.
    case heard
    /// The message of this number is over: sent (QoS 0), or acknowledged with this reason (QoS 1).
    case finished(id: Int32, reason: Int)
}
