import Messages
import Settings
import Values

/// Options of a connection to a broker: of the client, of the link, and of one attempt alone.
public struct ConnectionOptions: Sendable, Equatable {
    /// Tried in order, never empty.
    public var brokers: [BrokerAddress]
    /// Empty: `clientPrefix` and a random text (`BrokerClient` makes it).
    public var clientID: String
    var clientPrefix = "seismote-ctl"
    /// The settings as they are. Those of `uris` are `brokers`, and that of `clientID` is `clientID`. The password file is
    /// absolute, or a name below `$CREDENTIALS_DIRECTORY` (a systemd credential), and is read before each attempt, so that a
    /// changed password takes effect.
    public var mqtt = MQTTConfiguration()
    /// Seconds from the start of an attempt to the broker's CONNACK.
    public var connectTimeout = 10.0
    /// Bytes of payload of a message that comes in; of a larger one only the size is told.
    public var inboundBytes = 64 << 10
    /// Bytes of the largest packet that the broker may send (MQTT 5); nil: any.
    package var maximumPacketSize: UInt32?
    /// QoS 1 messages without acknowledgement that the broker may send; nil: as libmosquitto has it.
    package var receiveMaximum: Int?
    /// QoS 1 messages without acknowledgement that are sent, whatever the broker allows; nil: as libmosquitto has it.
    var sendMaximum: Int?
    /// The session ends with the connection, and does not go on with an earlier one.
    package var isClean = true
    /// Seconds that the broker keeps the session after the connection (MQTT 5).
    package var sessionExpiry: UInt32?
    package var will: Will?

    public init(brokers: [BrokerAddress], clientID: String = "") { (self.brokers, self.clientID) = (brokers, clientID) }

    /// Message that the broker publishes when the client is gone without a good-bye.
    package struct Will: Sendable, Equatable {
        package var topic: String
        package var payload: [UInt8]
        package var contentType: ContentType?
        /// Seconds that the broker waits for the client to come back before (MQTT 5).
        package var delay: UInt32 = 0

        package init(topic: String, payload: [UInt8]) { (self.topic, self.payload) = (topic, payload) }
    }

    /// The version of the first attempt; 5 falls back to 3.1.1 with a broker that has no 5.
    public var version: MQTTVersion {
        switch mqtt.protocolVersion {
        case .auto: .automatic
        case .v5: .v5
        case .v311: .v311
        }
    }

    /// Where the client id of a station is set, the broker takes some names only: ours begins with it.
    package mutating func takeNames(of mqtt: MQTTConfiguration, station: String) {
        if !mqtt.clientID.isEmpty { clientPrefix = mqtt.clientID.naming(station) + "-ctl" }
    }
}

/// How a client introduces itself to a broker: with MQTT 5 and everything, or with less where the broker has less.
struct ConnectForm: Sendable, Equatable {
    var version: MQTTVersion
    /// Quality of service and retained flag of the last will.
    var willQoS = 1
    var willIsRetained = true
}

/// How a filter is subscribed to (MQTT 5; 3.1.1 knows none of it).
struct SubscriptionOptions {
    /// The broker sends with the subscription what it retains.
    var wantsRetained = true
    /// A message says whether it was published as retained.
    var keepsRetained = false
    /// Messages of our own do not come back.
    var isWithoutOwn = false
}

/// Where a broker listens, as written in `mqtt.uri`: `mqtt://host:port` or `mqtts://host:port`.
public struct BrokerAddress: Sendable, Equatable, CustomStringConvertible {
    /// Host name, IPv4 address, or IPv6 address without brackets.
    public var host: String
    /// 1 to 65535; 1883 for `mqtt`, 8883 for `mqtts` when not given.
    public var port: Int
    /// True for `mqtts`.
    public var tls: Bool

    public init(host: String, port: Int, tls: Bool) {
        self.host = host
        self.port = port
        self.tls = tls
    }

    /// Reads a URI. A user name, a path or a query is refused: credentials do not belong in addresses that get logged.
    public init(uri: String) throws(MQTTError) {
        func bad(_ why: String) -> MQTTError {
            MQTTError("broker address \"\(uri)\": \(why) Allowed: mqtt://host[:port] or mqtts://host[:port]")
        }
        var rest: Substring
        if uri.hasPrefix("mqtt://") {
            (tls, rest) = (false, uri.dropFirst(7))
        } else if uri.hasPrefix("mqtts://") {
            (tls, rest) = (true, uri.dropFirst(8))
        } else {
            throw bad(NetworkAddress.problem(inScheme: uri))
        }
        if rest.contains("@") { throw MQTTError("a broker address has no place for a user or a password") }
        if rest.last == "/" { rest.removeLast() }
        do throws(NetworkAddress.Problem) {
            let address = try NetworkAddress(rest, allowsZone: true)
            host = address.host
            port = address.port ?? MQTTConfiguration.standardPort(isEncrypted: tls)
        } catch { throw bad(error.message) }
    }

    /// The broker is on this machine, as far as the address says.
    public var isLoopback: Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == 46 || $0.isDigit }
    }

    public var description: String {
        "\(tls ? "mqtts" : "mqtt")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension MQTTConfiguration {
    /// The brokers of `mqtt.uri`, in their order.
    public func brokers() throws(MQTTError) -> [BrokerAddress] {
        var brokers: [BrokerAddress] = []
        for uri in uris { brokers.append(try BrokerAddress(uri: uri)) }
        return brokers
    }
}
