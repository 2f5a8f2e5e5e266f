import Association
import Messages
import Settings

/// All that `seismote network run` tells `seismote-network`, which has no settings of its own: one object of JSON.
package struct ClusterOrder: Sendable {
    /// A node of the cluster.
    package struct Node: Sendable, Equatable {
        package var host: String
        package var port: Int
        package var isEncrypted: Bool

        /// - Parameter uri: `amqp://host[:port]` or `amqps://host[:port]`; nil when it is none.
        package init?(_ uri: String) {
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

    package var nodes: [String] = []
    package var username = ""
    package var password = ""
    package var caFile = ""
    package var certFile = ""
    package var keyFile = ""
    package var options = ClusterOptions()
    package var association = AssociationOptions()

    package init() {}

    private static let texts: [(key: String, path: any WritableKeyPath<ClusterOrder, String> & Sendable)] = [
        ("username", \.username), ("password", \.password), ("ca_file", \.caFile), ("cert_file", \.certFile),
        ("key_file", \.keyFile), ("root", \.options.root), ("queue", \.options.queue), ("version", \.options.version),
        ("home_assistant", \.options.homeAssistant),
    ]

    private static let flags: [(key: String, path: any WritableKeyPath<ClusterOrder, Bool> & Sendable)] = [
        ("settled", \.options.isSettled), ("confirm", \.options.confirms),
    ]

    private static let numbers: [(key: String, path: any WritableKeyPath<ClusterOrder, Double> & Sendable)] = [
        ("status_s", \.options.statusSeconds), ("near_km", \.association.nearKilometres),
        ("gate_s", \.association.gate), ("search_km", \.association.searchRadius),
        ("quiet_s", \.association.quietSeconds), ("version_s", \.association.versionSeconds),
        ("margin_s", \.options.margin), ("refresh_s", \.options.refreshSeconds),
    ]

    private static let counts: [(key: String, path: any WritableKeyPath<ClusterOrder, Int> & Sendable)] = [
        ("minimum_stations", \.association.minimumStations), ("near_stations", \.association.nearStations),
    ]

    package var json: [UInt8] {
        var members: [Value.Member] = [.init("nodes", .array(nodes.map { .string($0) }))]
        for (key, path) in Self.texts { members.append(.init(key, .string(self[keyPath: path]))) }
        for (key, path) in Self.flags { members.append(.init(key, .bool(self[keyPath: path]))) }
        for (key, path) in Self.numbers { members.append(.init(key, .double(self[keyPath: path]))) }
        for (key, path) in Self.counts { members.append(.init(key, .int(Int64(self[keyPath: path])))) }
        return Value.object(members).json()
    }

    /// Nil when anything is missing.
    package init?(json: [UInt8]) {
        guard let tree = try? JSONReader.read(json), case .array(let nodes)? = tree["nodes"] else { return nil }
        self.nodes = nodes.compactMap(\.rawText)
        for (key, path) in Self.texts {
            guard let text = tree[key]?.rawText else { return nil }
            self[keyPath: path] = text
        }
        for (key, path) in Self.flags {
            guard let flag = tree[key]?.flag else { return nil }
            self[keyPath: path] = flag
        }
        for (key, path) in Self.numbers {
            guard let number = tree[key]?.number else { return nil }
            self[keyPath: path] = number
        }
        for (key, path) in Self.counts {
            guard let number = tree[key]?.whole else { return nil }
            self[keyPath: path] = number
        }
    }
}
