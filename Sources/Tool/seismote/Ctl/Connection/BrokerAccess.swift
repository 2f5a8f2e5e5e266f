import Link
import Messages
import Settings

/// Everything the tool has to know to reach a broker.
struct BrokerAccess {
    /// Tried in order, never empty.
    var brokers: [BrokerAddress]
    var version = LinkOptions.ProtocolVersion.automatic
    /// Empty: no credentials are sent.
    var username = ""
    var password: String?
    var tls = MQTTConfiguration().tls
    /// First levels of every topic.
    var root = Topics.defaultRoot
    /// Seconds for one attempt.
    var patience = 10.0
}
