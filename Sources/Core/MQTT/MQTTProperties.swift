import CMosquitto
import Messages

/// Properties of MQTT 5 under construction; with 3.1.1, which has none, nothing is added. They leave in the order in which
/// they are added. libmosquitto's list is freed when this value ends, unless it was given away: of its calls only
/// `mosquitto_will_set_v5` takes a list over, and only when it succeeds.
package struct MQTTProperties: ~Copyable {
    private var head: OpaquePointer?
    private let exists: Bool

    package init(_ version: MQTTVersion) { exists = version == .v5 }

    deinit {
        guard head != nil else { return }
        var list = head
        mosquitto_property_free_all(&list)
    }

    // MARK: of a message

    package mutating func add(contentType: ContentType) {
        guard exists else { return }
        _ = mosquitto_property_add_string(&head, Int32(MQTT_PROP_CONTENT_TYPE.rawValue), Self.text(contentType.mime))
    }

    /// Where the answer goes.
    package mutating func add(responseTopic: String) {
        guard exists else { return }
        _ = mosquitto_property_add_string(&head, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), responseTopic)
    }

    /// Adds data that the answer brings back.
    package mutating func add(correlation bytes: [UInt8]) {
        guard exists else { return }
        _ = bytes.withUnsafeBytes {
            mosquitto_property_add_binary(
                &head, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), $0.baseAddress, UInt16(clamping: bytes.count))
        }
    }

    /// - Parameter expiry: seconds after which nobody gets the message any more.
    package mutating func add(expiry: UInt32) { add(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, expiry) }

    /// A user property.
    package mutating func add(name: StaticString, value: StaticString) {
        guard exists else { return }
        _ = mosquitto_property_add_string_pair(
            &head, Int32(MQTT_PROP_USER_PROPERTY.rawValue), Self.text(name), Self.text(value))
    }

    // MARK: of a connection and its last will

    /// - Parameter willDelay: seconds that the broker waits for us to come back before it publishes the last will.
    mutating func add(willDelay: UInt32) { add(MQTT_PROP_WILL_DELAY_INTERVAL, willDelay) }

    /// - Parameter sessionExpiry: seconds that the broker keeps the session after the connection.
    mutating func add(sessionExpiry: UInt32) { add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, sessionExpiry) }

    /// - Parameter maximumPacketSize: bytes of the largest packet that we take.
    mutating func add(maximumPacketSize: UInt32) { add(MQTT_PROP_MAXIMUM_PACKET_SIZE, maximumPacketSize) }

    private mutating func add(_ identifier: mqtt5_property, _ number: UInt32) {
        guard exists else { return }
        _ = mosquitto_property_add_int32(&head, Int32(identifier.rawValue), number)
    }

    /// A text of the program, as C has it, without a copy.
    private static func text(_ text: StaticString) -> UnsafePointer<CChar>? {
        guard text.hasPointerRepresentation else { return nil }
        return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    // MARK: libmosquitto's calls

    /// Lends the list to a call that never keeps it.
    borrowing func lend<R>(_ body: (OpaquePointer?) -> R) -> R { body(head) }

    /// Offers the list to a call that takes it over when it returns success (0); returns what the call returned.
    mutating func give(_ body: (OpaquePointer?) -> Int32) -> Int32 {
        let code = body(head)
        if code == MOSQ_ERR_SUCCESS.code { head = nil }
        return code
    }
}

extension ContentType {
    /// The name on the wire, without a copy.
    var mime: StaticString {
        switch self {
        case .text: "text/plain"
        case .json: "application/json"
        case .cbor: "application/cbor"
        case .mseed: "application/vnd.fdsn.mseed"
        }
    }
}
