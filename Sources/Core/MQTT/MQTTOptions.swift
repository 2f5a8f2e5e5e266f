import Messages
import Settings

/// Options of a client for one attempt.
package struct MQTTOptions {
    package var broker: BrokerAddress
    package var clientID: String
    package var version: MQTTVersion
    /// The session ends with the connection, and does not go on with an earlier one.
    package var isClean = true
    /// Seconds without a message after which the client says that it is there; 0: never.
    package var keepalive: Int
    /// For a broker with TLS.
    package var tls: MQTTConfiguration.TLS
    package var will: Will?
    /// Seconds that the broker keeps the session after the connection (MQTT 5).
    package var sessionExpiry: UInt32?
    /// Bytes of the largest packet that the broker may send (MQTT 5); nil: any.
    package var maximumPacketSize: UInt32?
    /// QoS 1 messages without acknowledgement that the broker may send; nil: as libmosquitto has it.
    package var receiveMaximum: Int?
    /// QoS 1 messages without acknowledgement that are sent, whatever the broker allows; nil: as libmosquitto has it.
    package var sendMaximum: Int?
    /// Bytes of payload that are taken of one message; of a larger one only the size.
    package var payloadLimit: Int

    package init(
        _ broker: BrokerAddress, clientID: String, version: MQTTVersion, keepalive: Int, tls: MQTTConfiguration.TLS,
        payloadLimit: Int
    ) {
        (self.broker, self.clientID, self.version) = (broker, clientID, version)
        (self.keepalive, self.tls, self.payloadLimit) = (keepalive, tls, payloadLimit)
    }

    /// Message that the broker publishes when the client is gone without a good-bye.
    package struct Will {
        package var topic: String
        package var payload: [UInt8]
        package var qos = 1
        package var retain = true
        package var contentType: ContentType?
        /// Seconds that the broker waits for the client to come back before (MQTT 5).
        package var delay: UInt32 = 0

        package init(topic: String, payload: [UInt8]) { (self.topic, self.payload) = (topic, payload) }
    }

    /// How a filter is subscribed to (MQTT 5; 3.1.1 knows none of it).
    package struct Subscription {
        package enum Retained { case always, never }
        /// Whether what the broker retains comes with the subscription.
        package var retained = Retained.always
        /// A message says whether it was published as retained.
        package var keepsRetained = false
        /// Messages of our own do not come back.
        package var isWithoutOwn = false

        package init() {}
    }
}
