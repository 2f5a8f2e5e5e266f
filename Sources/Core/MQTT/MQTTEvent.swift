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

/// Reason why a call of `MQTTConnection` has failed, in words.
package struct MQTTFailure: Error, Equatable, CustomStringConvertible {
    package enum Cause: Equatable {
        /// libmosquitto makes no client.
        case client
        /// Certificates, keys or options of TLS.
        case security
        case will, credentials
        /// There is no connection, or it has just ended.
        case connection
        /// A signal came while the call waited.
        case interrupted
        /// A message is larger than the broker takes.
        case tooLarge
        case memory
        /// It is not a message or filter that can be sent at all, such as one with a broken topic.
        case content
    }

    package var cause: Cause
    package var description: String
    /// libmosquitto has kept the message under this number all the same, and sends it when the same client connects again;
    /// 0: it has not.
    package var kept: Int32 = 0
}

/// Words for the numbers of libmosquitto and of MQTT.
enum MQTTWords {
    /// - Parameters:
    ///   - code: of a call of libmosquitto.
    ///   - number: `errno` after it.
    static func error(_ code: Int32, _ number: Int32) -> String {
        code == MOSQ_ERR_ERRNO.code ? system(number) : String(cString: mosquitto_strerror(code))
    }

    static func system(_ number: Int32) -> String { String(cString: strerror(number)) }

    /// - Parameter code: of a CONNACK; from 128 on those of MQTT 5.
    static func refusal(_ code: Int32) -> String {
        String(cString: code >= 128 ? mosquitto_reason_string(code) : mosquitto_connack_string(code))
    }

    /// - Parameter code: a reason of MQTT 5.
    static func reason(_ code: Int) -> String { String(cString: mosquitto_reason_string(Int32(code))) }
}

extension mosq_err_t {
    /// As libmosquitto's calls return it.
    var code: Int32 { rawValue }
}

/// A connection that cannot be made or used as asked; the sentence names the object.
public struct MQTTError: Error, Sendable, Equatable, CustomStringConvertible {
    public var message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}

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
