/// A node of a cluster of RabbitMQ.
struct ClusterNode: Sendable, Equatable {
    var host: String
    var port: Int
    var isEncrypted: Bool

    /// - Parameter uri: `amqp://host[:port]` or `amqps://host[:port]`; nil when it is none.
    init?(_ uri: String) {
        let parts = uri.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 4 && parts[3].isEmpty, parts[1].isEmpty,
            parts[0] == "amqp:" || parts[0] == "amqps:"
        else { return nil }
        isEncrypted = parts[0] == "amqps:"
        port = isEncrypted ? 5671 : 5672
        var name = parts[2]
        if let colon = name.lastIndex(of: ":"), !name.hasSuffix("]") {
            guard let number = Int(name[name.index(after: colon)...]), (1...65535).contains(number) else {
                return nil
            }
            port = number
            name = name[..<colon]
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        guard (1...253).contains(name.utf8.count),
            name.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "@") })
        else { return nil }
        host = String(name)
    }
}
