import Messages
import Settings
import Values

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
    var recordSeconds = 4.0
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
    var withoutAccount: [String] = []
    /// Proxies that are believed whom they speak for.
    var proxies: [String] = []
    /// Places that are kept for the web services.
    public var webClients = 50
    public var organisation = "Seismote"
    public var mqtt = MQTTConfiguration()

    public init() {}

    public var root: String { mqtt.root }

    /// All rows, in the order of the default file.
    public static let table: [Setting<FeedSettings>] = [
        Setting(
            "feed.state", \.folder, .neededPath, "Folder of the ring; the program makes and owns feed.db in it."),
        Setting(
            "feed.client_id", \.clientID, .id,
            "Name of the session at the broker; two feeds on one broker need two."),
        Setting(
            "feed.listen", \.listen,
            .text("an IP address, or localhost") { IPAddress.bytes(withoutZone($0)) != nil || $0 == "localhost" },
            "Address to listen on; 0.0.0.0 or :: is every network of the machine: see the manual for TLS and accounts."
        ),
        Setting("feed.seedlink_port", \.seedLinkPort, .integer(0...65535), "Port of SeedLink; 0: none."),
        Setting(
            "feed.web_port", \.webPort, .integer(0...65535),
            "Port of the FDSN web services and of /metrics; 0: none."),
        Setting(
            "feed.seedlink_tls_port", \.seedLinkTLSPort, .integer(0...65535),
            "Port of SeedLink over TLS, usually 18500; 0: none."),
        Setting(
            "feed.web_tls_port", \.webTLSPort, .integer(0...65535),
            "Port of the FDSN web services and of /metrics over TLS; 0: none."),
        Setting(
            "feed.tls_cert_file", \.certificate, .path,
            "Certificate for TLS with those that lead to its authority (PEM); read again when the file has changed; "
                + "empty: none."),
        Setting("feed.tls_key_file", \.key, .path, "Its private key (PEM)."),
        Setting(
            "feed.accounts_file", \.accounts, .path,
            "Names and passwords as htpasswd -B writes them; then nobody is served without one of them. Empty: none is "
                + "needed."),
        Setting(
            "feed.without_account", \.withoutAccount,
            .many(.text("addresses or ranges such as 192.168.1.0/24") { AddressRange($0) != nil }),
            "Clients of these addresses need no account."),
        Setting(
            "feed.proxies", \.proxies,
            .many(.text("addresses or ranges such as 127.0.0.1") { AddressRange($0) != nil }),
            "Proxies that are believed for whom they ask: X-Forwarded-For (web), the PROXY protocol 1 (SeedLink)."),
        Setting("feed.stations", \.stations, .many(.id), "Stations that are served, by their ids; empty: all."),
        Setting(
            "feed.groups", \.groups, .many(.id),
            "Only stations that are in one of these groups (their setting station.groups) are served; empty: all."),
        Setting(
            "feed.signals", \.signals, .many(.word(["raw", "filtered", "rms"])),
            "Which signals of the traces are served: raw as HN?, filtered as HX?, rms as HY?."),
        Setting(
            "feed.codes", \.codes, .byStation(.parsed("NETWORK.STATION.LOCATION", StationCodes.init, \.description)),
            "Codes of stations by id, above those of their own settings, such as {basement: XX.BASE.00}."),
        Setting(
            "feed.datalink", \.dataLink, .text("host:port, or empty") { $0.isEmpty || HostAndPort($0) != nil },
            "A ringserver that is given all records by DataLink, usually at port 16000; empty: none."),
        Setting(
            "feed.shake", \.shake, .byStation(.parsed("host:port", HostAndPort.init, \.description)),
            "Sends a station's samples to this address as a Raspberry Shake does, for rsudp and programs like it, such as "
                + "{basement: 127.0.0.1:8888}."),
        Setting("feed.days", \.days, .number(0.01...3650, unit: "days"), "How long records are kept."),
        Setting(
            "feed.megabytes", \.megabytes, .integer(10...1_000_000, unit: "MB"),
            "Bytes of the folder at most, with the database's write-ahead log; the oldest records go first. What stations "
                + "say of themselves and events have a quarter each."),
        Setting(
            "feed.patience_s", \.patience, .duration(0...600),
            "How long samples that are missing are waited for before they are given up and the later ones go on."),
        Setting(
            "feed.fetch_s", \.fetchSeconds, .duration(0...120),
            "How long dataselect waits for samples that only the station has on its disk; 0: it is not asked."),
        Setting(
            "feed.ahead_s", \.aheadSeconds, .duration(0...3600),
            "How far the time of samples and events may be ahead of the clock here; what is later is refused."),
        Setting(
            "feed.record_s", \.recordSeconds, .duration(0.5...60),
            "A record that is not full goes out when it has so much; shorter is earlier and larger."),
        Setting("feed.clients", \.clients, .integer(1...100_000), "Connections at once."),
        Setting(
            "feed.clients_per_address", \.clientsPerAddress, .integer(1...100_000),
            "Connections at once from one address."),
        Setting(
            "feed.web_clients", \.webClients, .integer(0...100_000),
            "So many of `clients` are kept for the web services; SeedLink cannot take them."),
        Setting(
            "feed.stream_idle_s", \.streamIdleSeconds, .duration(10...86400),
            "A SeedLink client that asks for packets, gets none, and sends nothing is cut after this time."),
        Setting(
            "feed.idle_s", \.idleSeconds, .duration(1...3600),
            "A client that asks for nothing, or does not read what it has asked for, is cut after this time."),
        Setting(
            "feed.organisation", \.organisation,
            .text("1 to 100 bytes of printable characters") {
                (1...100).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            },
            "What SeedLink says of who serves."),
    ]

    /// Whether a station is in one of the groups.
    /// - Parameter info: its `state/info`.
    public func serves(_ info: InfoReading) -> Bool {
        guard !groups.isEmpty else { return true }
        guard let own = info.station?.groups else { return false }
        return groups.contains { own.contains($0) }
    }

    /// Filters to subscribe to.
    public var subscriptions: [String] {
        let ids = stations.isEmpty ? ["+"] : stations
        return ids.flatMap { id in
            [
                "state/online", "state/info", "state/config", "state/level", "state/health", "event/trigger",
                "event/last",
                "data/trace", "data/vibration", "data/history/#", "res/+",
            ].map { "\(root)/\(id)/\($0)" }
        } + ["event", "event/last"].map { "\(root)/network/\($0)" }
    }
}

/// An IPv6 address without the interface that it is of: `fe80::1` of `fe80::1%eth0`.
private func withoutZone(_ text: String) -> String {
    guard let sign = text.firstIndex(of: "%"), text.contains(":"), text[sign...].utf8.count > 1 else { return text }
    return String(text[..<sign])
}

/// Network, station and location codes, as `XX.BASE.00`.
public struct StationCodes: Equatable, Sendable, CustomStringConvertible {
    public var network: String
    public var station: String
    public var location: String

    /// - Returns: nil for what is none: letters A-Z and digits, 1 or 2, 1 to 5 and up to 2 of them.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard
            parts.count == 3, (1...2).contains(parts[0].utf8.count), (1...5).contains(parts[1].utf8.count),
            parts[2].utf8.count <= 2,
            text.utf8.allSatisfy({ $0.isDigit || $0.isCapital || $0 == 0x2E })
        else { return nil }
        (network, station, location) = (parts[0], parts[1], parts[2])
    }

    public var description: String { "\(network).\(station).\(location)" }
}

/// A host and a port, as `192.168.1.20:8888` or `[fd00::2]:8888`.
public struct HostAndPort: Equatable, Sendable, CustomStringConvertible {
    public var host: String
    public var port: Int

    /// - Returns: nil for what is none.
    public init?(_ text: String) {
        guard let address = try? NetworkAddress(text[...], allowsZone: true), let port = address.port else {
            return nil
        }
        (host, self.port) = (address.host, port)
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
