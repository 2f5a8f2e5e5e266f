import Settings

/// A node of a cluster of RabbitMQ.
struct ClusterNode: Sendable, Equatable {
    var host: String
    var port: Int
    var isEncrypted: Bool

    /// - Parameter uri: `amqp://host[:port]` or `amqps://host[:port]`; nil when it is none.
    init?(_ uri: String) {
        isEncrypted = uri.hasPrefix("amqps://")
        guard isEncrypted || uri.hasPrefix("amqp://") else { return nil }
        var rest = uri.dropFirst(isEncrypted ? 8 : 7)
        if rest.last == "/" { rest.removeLast() }
        guard let address = try? NetworkAddress(rest, allowsZone: true) else { return nil }
        (host, port) = (address.host, address.port ?? (isEncrypted ? 5671 : 5672))
    }
}
