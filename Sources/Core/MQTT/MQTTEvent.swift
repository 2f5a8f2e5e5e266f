import CMosquitto
import Glibc
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

/// A version of MQTT, as spoken with a broker.
public enum MQTTVersion: Sendable, Equatable {
    case v5, v311

    /// Version that is spoken when nobody asks for one.
    public static var automatic: Self { ClientLibrary.diesOfProperties ? .v311 : .v5 }
}

/// Limits in a broker's CONNACK, with the defaults of MQTT where it names none.
package struct BrokerLimits: Equatable, Sendable {
    /// QoS 1 messages that may be on the way without acknowledgement; nil: not said.
    package var receiveMaximum: Int?
    /// Bytes; nil: no limit.
    package var maximumPacketSize: Int?
    var maximumQoS = 2
    var retainAvailable = true
    /// Seconds that the broker wants instead of ours; nil: ours. The library obeys.
    var serverKeepalive: Int?
    /// The broker still knows our subscriptions.
    var sessionPresent = false

    /// Codes of a CONNACK to a last will that asks for more than the broker has.
    static let qosNotSupported = Int(MQTT_RC_QOS_NOT_SUPPORTED.rawValue)
    static let retainNotSupported = Int(MQTT_RC_RETAIN_NOT_SUPPORTED.rawValue)

    package init() {}

    /// Reads the limits of a CONNACK; nil: it has no properties.
    init(_ properties: OpaquePointer?) {
        self.init()
        guard let properties else { return }
        var short: UInt16 = 0
        if mosquitto_property_read_int16(properties, Int32(MQTT_PROP_RECEIVE_MAXIMUM.rawValue), &short, false) != nil {
            receiveMaximum = max(1, Int(short))
        }
        if mosquitto_property_read_int16(properties, Int32(MQTT_PROP_SERVER_KEEP_ALIVE.rawValue), &short, false) != nil
        {
            serverKeepalive = Int(short)
        }
        var long: UInt32 = 0
        let size = Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue)
        if mosquitto_property_read_int32(properties, size, &long, false) != nil { maximumPacketSize = Int(long) }
        var byte: UInt8 = 0
        if mosquitto_property_read_byte(properties, Int32(MQTT_PROP_MAXIMUM_QOS.rawValue), &byte, false) != nil {
            maximumQoS = Int(byte)
        }
        if mosquitto_property_read_byte(properties, Int32(MQTT_PROP_RETAIN_AVAILABLE.rawValue), &byte, false) != nil {
            retainAvailable = byte != 0
        }
    }
}

extension InboundMessage {
    /// Copies what the library hands out for the time of a call.
    init(_ message: mosquitto_message, _ properties: OpaquePointer?, limit: Int) {
        let size = max(0, Int(message.payloadlen))
        self.init(
            topic: message.topic.map { String(cString: $0) } ?? "",
            payload: size <= limit ? [UInt8](UnsafeRawBufferPointer(start: message.payload, count: size)) : [],
            isRetained: message.retain, qos: Int(message.qos))
        self.size = size
        responseTopic = Self.text(properties, MQTT_PROP_RESPONSE_TOPIC)
        contentType = Self.text(properties, MQTT_PROP_CONTENT_TYPE)
        correlation = Self.binary(properties, MQTT_PROP_CORRELATION_DATA)
    }

    // Both calls allocate what they hand out.
    private static func text(_ properties: OpaquePointer?, _ name: mqtt5_property) -> String? {
        guard let properties else { return nil }
        var text: UnsafeMutablePointer<CChar>?
        guard mosquitto_property_read_string(properties, Int32(name.rawValue), &text, false) != nil, let text else {
            return nil
        }
        defer { free(text) }
        return String(cString: text)
    }

    private static func binary(_ properties: OpaquePointer?, _ name: mqtt5_property) -> [UInt8]? {
        guard let properties else { return nil }
        var bytes: UnsafeMutableRawPointer?
        var count: UInt16 = 0
        guard mosquitto_property_read_binary(properties, Int32(name.rawValue), &bytes, &count, false) != nil else {
            return nil
        }
        defer { free(bytes) }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
    }
}
