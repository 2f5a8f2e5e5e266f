import Settings

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
            MQTTError("broker address \"\(uri)\" \(why); allowed: mqtt://host[:port] or mqtts://host[:port]")
        }
        var rest: Substring
        if uri.hasPrefix("mqtt://") {
            (tls, rest) = (false, uri.dropFirst(7))
        } else if uri.hasPrefix("mqtts://") {
            (tls, rest) = (true, uri.dropFirst(8))
        } else {
            throw bad("has no known scheme")
        }
        if rest.last == "/" { rest.removeLast() }
        if rest.contains(where: { $0 == "/" || $0 == "@" || $0 == "?" || $0 == "#" || $0 == " " }) {
            throw bad("has more than a host and a port")
        }
        var portText: Substring?
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { throw bad("has no closing bracket") }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            let after = rest[rest.index(after: end)...]
            if !after.isEmpty {
                guard after.first == ":" else { throw bad("has text after the bracket") }
                portText = after.dropFirst()
            }
        } else if let colon = rest.lastIndex(of: ":") {
            host = String(rest[..<colon])
            if host.contains(":") { throw bad("has an IPv6 address without brackets") }
            portText = rest[rest.index(after: colon)...]
        } else {
            host = String(rest)
        }
        if host.isEmpty { throw bad("has no host") }
        if host.utf8.contains(0) { throw bad("contains a zero byte") }
        if let portText {
            guard portText.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int(portText), (1...65535) ~= number
            else { throw bad("has a port outside 1…65535") }
            port = number
        } else {
            port = MQTTConfiguration.standardPort(isEncrypted: tls)
        }
    }

    /// The broker is on this machine, as far as the address says.
    public var isLoopback: Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == 46 || (48...57).contains($0) }
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
