import Association
import MQTT
import Messages
import Settings

/// Everything that `seismote-network` can be told; ``table`` declares each with its range and help. How the broker is
/// reached is told by the chapter `mqtt`, as the agent's own table has it.
struct NetworkSettings: ProgramSettings {
    static let (chapter, program, example) = ("network", "seismote-network", "network.confirm=true")

    var folder = "/var/lib/seismote-network"
    var clientID = "seismote-network"
    /// Nodes of a RabbitMQ cluster, as URIs; empty: one broker, by MQTT.
    var cluster: [String] = []
    /// Late onsets are waited for before anything is published.
    var isSettled = false
    var confirms = false
    /// Prefix of Home Assistant's discovery; empty: nothing is announced.
    var homeAssistant = ""
    /// Seconds between two messages on `network/status`.
    var statusSeconds = 60.0
    var association = AssociationOptions()
    var mqtt = MQTTConfiguration()

    /// All rows, in the order of the default file.
    static let table: [Setting<NetworkSettings>] = [
        Setting(
            "network.state", \.folder, .neededPath,
            "Folder for the log of onsets and what was published; the program makes and owns network.db in it."),
        Setting(
            "network.client_id", \.clientID, .id,
            "Name of the session at the broker; two detectors on one broker need two, and two roots."),
        Setting(
            "network.cluster", \.cluster,
            .many(.text("amqps://host[:port] or amqp://host[:port]") { ClusterNode($0) != nil }),
            "Nodes of a RabbitMQ cluster: the log is a queue there, named as client_id; any number of detectors "
                + "may run, of which one is at work. User, password, root and TLS are those of the chapter mqtt."),
        Setting(
            "network.settled", \.isSettled, .bool,
            "Publish only what late onsets cannot change: the same onsets give the same messages in any order of "
                + "arrival, and a first version comes at least 3 s later."),
        Setting(
            "network.confirm", \.confirms, .bool,
            "Tell each station on <root>/network/confirmed/<id> that its event is an earthquake that others have seen."),
        Setting(
            "network.home_assistant", \.homeAssistant,
            .text("topic levels, usually homeassistant, or empty") { $0.isEmpty || Topics.problem(inRoot: $0) == nil },
            "Prefix under which sensors are announced to Home Assistant; empty: nothing is announced."),
        Setting(
            "network.status_s", \.statusSeconds, .duration(1...3600),
            "Time between two messages on <root>/network/status."),
        Setting(
            "network.minimum_stations", \.association.minimumStations, .integer(4...100, unit: "stations"),
            "Stations that make a network event."),
        Setting(
            "network.near_stations", \.association.nearStations, .integer(3...100, unit: "stations"),
            "So many are enough where they lie within near_km and no station near them is silent."),
        Setting(
            "network.near_km", \.association.nearKilometres, .number(1...200, unit: "km"), "See near_stations."),
        Setting(
            "network.gate_s", \.association.gate, .duration(0.2...10),
            "How far an onset may be from the time that the travel-time table has; 2 % of the travel time is added."),
        Setting(
            "network.search_km", \.association.searchRadius, .number(10...1000, unit: "km"),
            "Distance around a new onset in which the source is looked for."),
        Setting(
            "network.place_km", \.association.placeKilometres, .number(0.01...100, unit: "km"),
            "How far the place that a station states may be from the one that was entered, or else from the one that it stated "
                + "first; one that is farther off takes no part until `seismote network stations --confirm` says so."),
        Setting(
            "network.depth_km", \.association.depth.middle, .number(0...300, unit: "km"),
            "Usual depth of the region's earthquakes, the middle of its seismogenic depths. Onsets of a small network hardly "
                + "tell the depth, and a magnitude depends on it."),
        Setting(
            "network.depth_spread_km", \.association.depth.spread, .number(1...100, unit: "km"),
            "Standard deviation of these depths: two thirds of the earthquakes are within so much of depth_km."),
        Setting(
            "network.lone_operator", \.association.believesLoneOperator, .bool,
            "Believe an earthquake that fewer than ten stations of one operator report and that no other station within 150 km "
                + "could confirm, though the broker has stations elsewhere; false: it is disputed."),
        Setting(
            "network.quiet_s", \.association.quietSeconds, .duration(10...600),
            "An event ends after this time without a new onset."),
        Setting(
            "network.version_s", \.association.versionSeconds, .duration(0.1...60),
            "Shortest time between two versions of an event; a fifth of it while its waves are on their way (30 s)."),
    ]

    /// Options for the machine.
    /// - Parameter root: first levels of every topic.
    func machineOptions(root: String) -> NetworkOptions {
        var options = NetworkOptions()
        (options.root, options.version) = (root, productVersion)
        (options.isSettled, options.confirms) = (isSettled, confirms)
        (options.homeAssistant, options.statusSeconds) = (homeAssistant, statusSeconds)
        return options
    }
}

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
