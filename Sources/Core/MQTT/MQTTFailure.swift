import CMosquitto
import Glibc

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
