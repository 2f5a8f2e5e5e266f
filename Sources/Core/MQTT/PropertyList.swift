import CMosquitto
import Messages

/// MQTT 5 properties under construction. The list is freed when this value ends, unless its owner gave it away: of
/// libmosquitto's calls only `mosquitto_will_set_v5` takes a list over, and only when it succeeds.
package struct PropertyList: ~Copyable {
    private(set) var head: OpaquePointer?

    package init() {}

    deinit {
        guard head != nil else { return }
        var list = head
        mosquitto_property_free_all(&list)
    }

    package mutating func add(_ identifier: mqtt5_property, _ number: UInt32) {
        _ = mosquitto_property_add_int32(&head, Int32(identifier.rawValue), number)
    }

    package mutating func add(_ identifier: mqtt5_property, _ text: StaticString) {
        guard text.hasPointerRepresentation else { return }
        let pointer = UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
        _ = mosquitto_property_add_string(&head, Int32(identifier.rawValue), pointer)
    }

    package mutating func add(_ identifier: mqtt5_property, bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes {
            mosquitto_property_add_binary(
                &head, Int32(identifier.rawValue), $0.baseAddress, UInt16(clamping: bytes.count))
        }
    }

    /// A user property.
    package mutating func add(name: StaticString, value: StaticString) {
        func text(_ text: StaticString) -> UnsafePointer<CChar> {
            UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
        }
        guard name.hasPointerRepresentation, value.hasPointerRepresentation else { return }
        _ = mosquitto_property_add_string_pair(
            &head, Int32(MQTT_PROP_USER_PROPERTY.rawValue), text(name), text(value))
    }

    /// Lends the list to a call that never keeps it.
    package borrowing func lend<R>(_ body: (OpaquePointer?) -> R) -> R { body(head) }

    /// Offers the list to a call that takes it over when it returns success (0); returns what the call returned.
    package mutating func give(_ body: (OpaquePointer?) -> Int32) -> Int32 {
        let code = body(head)
        if code == MOSQ_ERR_SUCCESS.code { head = nil }
        return code
    }
}

extension mosq_err_t {
    /// As libmosquitto's calls return it.
    package var code: Int32 { rawValue }
}

extension ContentType {
    /// The name on the wire, without a copy.
    package var mime: StaticString {
        switch self {
        case .text: "text/plain"
        case .json: "application/json"
        case .cbor: "application/cbor"
        case .mseed: "application/vnd.fdsn.mseed"
        }
    }
}
