import CMosquitto
import Glibc
import Messages

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
