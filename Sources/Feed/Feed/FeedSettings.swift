import Messages
import Servers
import Settings

/// Everything that `seismote-feed` can be told; ``table`` declares each with its range and help. How the broker is reached
/// is told by the chapter `mqtt`, as the agent's own table has it.
public struct FeedSettings: ProgramSettings {
    public static let (chapter, program, example) = ("feed", "seismote-feed", "feed.days=30")

    public var folder = "/var/lib/seismote-feed"
    public var clientID = "seismote-feed"
    public var listen = "127.0.0.1"
    public var seedLinkPort = 18000
    public var webPort = 18080
    public var stations: [String] = []
    public var signals = ["raw", "filtered"]
    /// Codes of stations by id, above those of `state/info`.
    public var codes: [String: StationCodes] = [:]
    /// A ringserver that is given all records.
    public var dataLink = ""
    /// Where a station's samples go as those of a Raspberry Shake, by id.
    public var shake: [String: HostAndPort] = [:]
    public var groups: [String] = []
    public var days = 7.0
    public var megabytes = 1000
    public var patience = 20.0
    public var fetchSeconds = 20.0
    public var recordSeconds = 4.0
    /// Seconds that a station's clock may be ahead.
    public var aheadSeconds = 10.0
    public var clients = 500
    public var clientsPerAddress = 200
    public var idleSeconds = 60.0
    /// Seconds after which a stream is cut that neither brings nor takes anything.
    public var streamIdleSeconds = 900.0
    /// Ports of the same over TLS; 0: none.
    public var seedLinkTLSPort = 0
    public var webTLSPort = 0
    public var certificate = ""
    public var key = ""
    /// File of names and passwords; empty: nobody needs one.
    public var accounts = ""
    /// Addresses whose clients need no account.
    public var withoutAccount: [String] = []
    /// Proxies that are believed whom they speak for.
    public var proxies: [String] = []
    /// Places that are kept for the web services.
    public var webClients = 50
    public var organisation = "Seismote"
    public var mqtt = MQTTConfiguration()

    public init() {}

    public var root: String { mqtt.root }

    /// All rows, in the order of the default file.
    public static let table: [ProgramSetting<FeedSettings>] = [
        .text(
            "state", \.folder, "a path of 1 to 4096 characters",
            "Folder of the ring; the program makes and owns feed.db in it."
        ) {
            (1...4096).contains($0.utf8.count)
        },
        .text(
            "client_id", \.clientID, "1 to 64 of letters A-Z a-z, digits, _ and -",
            "Name of the session at the broker; two feeds on one broker need two."
        ) { Topics.problem(inID: $0) == nil },
        .text(
            "listen", \.listen, "an IP address",
            "Address to listen on; 0.0.0.0 or :: is every network of the machine: see the manual for TLS and accounts."
        ) { (2...45).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } },
        .whole("seedlink_port", \.seedLinkPort, 0...65535, "", "Port of SeedLink; 0: none."),
        .whole("web_port", \.webPort, 0...65535, "", "Port of the FDSN web services and of /metrics; 0: none."),
        .whole(
            "seedlink_tls_port", \.seedLinkTLSPort, 0...65535, "", "Port of SeedLink over TLS, usually 18500; 0: none."),
        .whole(
            "web_tls_port", \.webTLSPort, 0...65535, "",
            "Port of the FDSN web services and of /metrics over TLS; 0: none."),
        .text(
            "tls_cert_file", \.certificate, "a path, or empty",
            "Certificate for TLS with those that lead to its authority (PEM); read again when the file has changed."
        ) { $0.utf8.count <= 4096 },
        .text("tls_key_file", \.key, "a path, or empty", "Its private key (PEM).") { $0.utf8.count <= 4096 },
        .text(
            "accounts_file", \.accounts, "a path, or empty",
            "Names and passwords as htpasswd -B writes them; then nobody is served without one of them. Empty: none is needed."
        ) { $0.utf8.count <= 4096 },
        .list(
            "without_account", \.withoutAccount, "addresses or ranges such as 192.168.1.0/24",
            "Clients of these addresses need no account."
        ) { AddressRange($0) != nil },
        .list(
            "proxies", \.proxies, "addresses or ranges such as 127.0.0.1",
            "Proxies that are believed for whom they ask: X-Forwarded-For (web), the PROXY protocol 1 (SeedLink)."
        ) { AddressRange($0) != nil },
        .list(
            "stations", \.stations, "ids of stations", "Stations that are served; empty: all."
        ) { Topics.problem(inID: $0) == nil },
        .list(
            "groups", \.groups, "names of groups",
            "Only stations that are in one of these groups (their setting station.groups) are served; empty: all."
        ) { Topics.problem(inID: $0) == nil },
        .list(
            "signals", \.signals, "raw, filtered, rms",
            "Which signals of the traces are served: raw as HN?, filtered as HX?, rms as HY?."
        ) { ["raw", "filtered", "rms"].contains($0) },
        .byStation(
            "codes", \.codes, "id: NETWORK.STATION.LOCATION",
            "Codes of stations by id, above those of their own settings, such as {basement: XX.BASE.00}.",
            StationCodes.init),
        .text(
            "datalink", \.dataLink, "host:port, or empty",
            "A ringserver that is given all records by DataLink, usually at port 16000; empty: none."
        ) { $0.isEmpty || HostAndPort($0) != nil },
        .byStation(
            "shake", \.shake, "id: host:port",
            "Sends a station's samples to this address as a Raspberry Shake does, for rsudp and programs like it, such as "
                + "{basement: 127.0.0.1:8888}.", HostAndPort.init),
        .number("days", \.days, 0.01...3650, "days", "How long records are kept."),
        .whole(
            "megabytes", \.megabytes, 10...1_000_000, "MB", "Size of the ring at most; the oldest records go first."),
        .number(
            "patience_s", \.patience, 0...600, "s",
            "How long samples that are missing are waited for before they are given up and the later ones go on."),
        .number(
            "fetch_s", \.fetchSeconds, 0...120, "s",
            "How long dataselect waits for samples that only the station has on its disk; 0: it is not asked."),
        .number(
            "ahead_s", \.aheadSeconds, 0...3600, "s",
            "How far the time of samples and events may be ahead of the clock here; what is later is refused."),
        .number(
            "record_s", \.recordSeconds, 0.5...60, "s",
            "A record that is not full goes out when it has so much; shorter is earlier and larger."),
        .whole("clients", \.clients, 1...100_000, "", "Connections at once."),
        .whole("clients_per_address", \.clientsPerAddress, 1...100_000, "", "Connections at once from one address."),
        .whole(
            "web_clients", \.webClients, 0...100_000, "",
            "So many of `clients` are kept for the web services; SeedLink cannot take them."),
        .number(
            "stream_idle_s", \.streamIdleSeconds, 10...86400, "s",
            "A SeedLink client that asks for packets, gets none, and sends nothing is cut after this time."),
        .number(
            "idle_s", \.idleSeconds, 1...3600, "s",
            "A client that asks for nothing, or does not read what it has asked for, is cut after this time."),
        .text("organisation", \.organisation, "1 to 100 characters", "What SeedLink says of who serves.") {
            (1...100).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        },
    ]

    /// Whether a station is in one of the groups.
    /// - Parameter info: its `state/info`.
    public func serves(_ info: Value) -> Bool {
        guard !groups.isEmpty else { return true }
        guard case .array(let own)? = info["station"]?["groups"] else { return false }
        return groups.contains { own.contains(.string($0)) }
    }

    /// What is subscribed to.
    public var subscriptions: [String] {
        let ids = stations.isEmpty ? ["+"] : stations
        return ids.flatMap { id in
            [
                "state/online", "state/info", "state/config", "state/level", "state/health", "event/trigger",
                "event/last",
                "data/trace", "data/history/#", "res/+",
            ].map { "\(root)/\(id)/\($0)" }
        } + ["event", "event/last"].map { "\(root)/network/\($0)" }
    }
}

/// Network, station and location codes, as `XX.BASE.00`.
public struct StationCodes: Equatable, Sendable {
    public var network: String
    public var station: String
    public var location: String

    /// - Returns: nil for what is none: letters A-Z and digits, 1 or 2, 1 to 5 and up to 2 of them.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard
            parts.count == 3, (1...2).contains(parts[0].utf8.count), (1...5).contains(parts[1].utf8.count),
            parts[2].utf8.count <= 2,
            text.utf8.allSatisfy({ (48...57).contains($0) || (65...90).contains($0) || $0 == 46 })
        else { return nil }
        (network, station, location) = (parts[0], parts[1], parts[2])
    }
}

/// A host and a port, as `192.168.1.20:8888` or `[fd00::2]:8888`.
public struct HostAndPort: Equatable, Sendable, CustomStringConvertible {
    public var host: String
    public var port: Int

    /// - Returns: nil for what is none.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        (self.host, self.port) = (String(host), port)
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
