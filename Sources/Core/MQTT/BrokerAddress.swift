import Settings
import Values

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
