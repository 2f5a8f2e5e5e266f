import Link
import Messages
import Servers
import Settings

/// Everything that `seismote-feed` can be told; ``table`` declares each with its range and help. How the broker is reached
/// is told by the chapter `mqtt`, as the agent's own table has it.
struct FeedSettings: ProgramSettings {
    static let (chapter, program, example) = ("feed", "seismote-feed", "feed.days=30")

    var folder = "/var/lib/seismote-feed"
    var clientID = "seismote-feed"
    var listen = "127.0.0.1"
    var seedLinkPort = 18000
    var webPort = 18080
    var stations: [String] = []
    var signals = ["raw", "filtered"]
    /// Codes of stations by id, above those of `state/info`.
    var codes: [String: StationCodes] = [:]
    /// A ringserver that is given all records.
    var dataLink = ""
    /// Where a station's samples go as those of a Raspberry Shake, by id.
    var shake: [String: HostAndPort] = [:]
    var groups: [String] = []
    var days = 7.0
    var megabytes = 1000
    var patience = 20.0
    var fetchSeconds = 20.0
    var recordSeconds = 4.0
    var mostChannels = 20_000
    var clients = 500
    var clientsPerAddress = 200
    var idleSeconds = 60.0
    var organisation = "Seismote"
    var mqtt = MQTTConfiguration()

    var root: String { mqtt.root }

    /// All rows, in the order of the default file.
    static let table: [ProgramSetting<FeedSettings>] = [
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
            "Address to listen on; 0.0.0.0 or :: is every network of the machine. There is no TLS and no password: see the manual."
        ) { (2...45).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } },
        .whole("seedlink_port", \.seedLinkPort, 0...65535, "", "Port of SeedLink; 0: none."),
        .whole("web_port", \.webPort, 0...65535, "", "Port of the FDSN web services and of /metrics; 0: none."),
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
            "record_s", \.recordSeconds, 0.5...60, "s",
            "A record that is not full goes out when it has so much; shorter is earlier and larger."),
        .whole("clients", \.clients, 1...100_000, "", "Connections at once."),
        .whole("clients_per_address", \.clientsPerAddress, 1...100_000, "", "Connections at once from one address."),
        .number(
            "idle_s", \.idleSeconds, 1...3600, "s",
            "A client that asks for nothing, or does not read what it has asked for, is cut after this time."),
        .text("organisation", \.organisation, "1 to 100 characters", "What SeedLink says of who serves.") {
            (1...100).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        },
    ]

    /// Whether a station is in one of the groups.
    /// - Parameter info: its `state/info`.
    func serves(_ info: Value) -> Bool {
        guard !groups.isEmpty else { return true }
        guard case .array(let own)? = info["station"]?["groups"] else { return false }
        return groups.contains { own.contains(.string($0)) }
    }

    /// What is subscribed to.
    var subscriptions: [String] {
        let ids = stations.isEmpty ? ["+"] : stations
        return ids.flatMap { id in
            [
                "state/online", "state/info", "state/config", "state/level", "state/health", "event/trigger",
                "event/last",
                "data/trace", "data/history/#", "res/+",
            ].map { "\(root)/\(id)/\($0)" }
        } + ["event", "event/last"].map { "\(root)/network/\($0)" }
    }

    func linkOptions() throws(LinkError) -> LinkOptions {
        var brokers: [BrokerAddress] = []
        for uri in mqtt.uris { brokers.append(try BrokerAddress(uri: uri)) }
        var options = LinkOptions(
            brokers: brokers, clientID: clientID,
            presence: .init(topic: "\(root)/network/feed/\(clientID)/online"))
        options.mqtt = mqtt
        options.base = "\(root)/network/feed/\(clientID)"
        options.subscriptions = subscriptions
        options.inboundBytes = 4 << 20
        // What comes while the feed is away waits at the broker for it.
        (options.wantsRetained, options.sessionSeconds) = (true, 3600)
        return options
    }
}

/// Network, station and location codes, as `XX.BASE.00`.
struct StationCodes: Equatable, Sendable {
    var network: String
    var station: String
    var location: String

    /// - Returns: nil for what is none: letters A-Z and digits, 1 or 2, 1 to 5 and up to 2 of them.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard
            parts.count == 3, (1...2).contains(parts[0].utf8.count), (1...5).contains(parts[1].utf8.count),
            parts[2].utf8.count <= 2,
            text.utf8.allSatisfy({ (48...57).contains($0) || (65...90).contains($0) || $0 == 46 })
        else { return nil }
        (network, station, location) = (parts[0], parts[1], parts[2])
    }
}
