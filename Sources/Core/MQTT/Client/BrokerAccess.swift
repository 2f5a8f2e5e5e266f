import Messages
import Settings

/// Address, credentials and options by which a program reaches a broker.
package struct BrokerAccess: Sendable {
    /// Tried in order, never empty.
    package var brokers: [BrokerAddress]
    package var version = MQTTVersion.automatic
    /// Empty: no credentials are sent.
    package var username = ""
    package var password: String?
    package var tls = MQTTConfiguration().tls
    /// First levels of every topic.
    package var root = Topics.defaultRoot
    /// Name of the connection; nil: `clientPrefix` and a random text.
    package var clientID: String?
    /// Beginning of such a name.
    package var clientPrefix = "seismote-ctl"
    /// Seconds for one attempt.
    package var patience = 10.0

    package init(brokers: [BrokerAddress]) { self.brokers = brokers }

    /// Where the client id of a station is set, the broker takes some names only: ours begins with it.
    package mutating func takeNames(of mqtt: MQTTConfiguration, station: String) {
        if !mqtt.clientID.isEmpty { clientPrefix = mqtt.clientID.naming(station) + "-ctl" }
    }
}
