import CMosquitto

/// Limits in a broker's CONNACK, with the defaults of MQTT where it names none.
package struct BrokerLimits: Equatable, Sendable {
    /// QoS 1 messages that may be on the way without acknowledgement; nil: not said.
    package var receiveMaximum: Int?
    /// Bytes; nil: no limit.
    package var maximumPacketSize: Int?
    package var maximumQoS = 2
    package var retainAvailable = true
    /// Seconds that the broker wants instead of ours; nil: ours. The library obeys.
    package var serverKeepalive: Int?
    /// The broker still knows our subscriptions.
    package var sessionPresent = false

    /// Codes of a CONNACK to a last will that asks for more than the broker has.
    package static let qosNotSupported = Int(MQTT_RC_QOS_NOT_SUPPORTED.rawValue)
    package static let retainNotSupported = Int(MQTT_RC_RETAIN_NOT_SUPPORTED.rawValue)

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
