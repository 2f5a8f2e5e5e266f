import Association
import Cluster
import Messages
import Servers
import Settings

/// Everything that `seismote network run` can be told; ``table`` declares each with its range and help. How the broker is
/// reached is told by the chapter `mqtt`, as the agent's own table has it.
struct NetworkSettings: ProgramSettings {
    static let (chapter, program, example) = ("network", "`seismote network run`", "network.confirm=true")

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
    static let table: [ProgramSetting<NetworkSettings>] = [
        .text(
            "state", \.folder, "a path of 1 to 4096 characters",
            "Folder for the log of onsets and what was published; the program makes and owns network.db in it."
        ) { (1...4096).contains($0.utf8.count) },
        .text(
            "client_id", \.clientID, "1 to 64 of letters A-Z a-z, digits, _ and -",
            "Name of the session at the broker; two detectors on one broker need two, and two roots."
        ) { Topics.problem(inID: $0) == nil },
        .list(
            "cluster", \.cluster, "amqps://host[:port] or amqp://host[:port]",
            "Nodes of a RabbitMQ cluster: the log is a queue there, named as client_id; any number of detectors "
                + "may run, of which one is at work. User, password, root and TLS are those of the chapter mqtt."
        ) { ClusterOrder.Node($0) != nil },
        .flag(
            "settled", \.isSettled,
            "Publish only what late onsets cannot change: the same onsets give the same messages in any order of "
                + "arrival, and a first version comes at least 3 s later."),
        .flag(
            "confirm", \.confirms,
            "Tell each station on <root>/network/confirmed/<id> that its event is an earthquake that others have seen."),
        .text(
            "home_assistant", \.homeAssistant, "topic levels, usually homeassistant, or empty",
            "Prefix under which sensors are announced to Home Assistant; empty: nothing is announced."
        ) { $0.isEmpty || Topics.problem(inRoot: $0) == nil },
        .number("status_s", \.statusSeconds, 1...3600, "s", "Time between two messages on <root>/network/status."),
        .whole(
            "minimum_stations", \.association.minimumStations, 4...100, "stations",
            "Stations that make a network event."),
        .whole(
            "near_stations", \.association.nearStations, 3...100, "stations",
            "So many are enough where they lie within near_km and no station near them is silent."),
        .number("near_km", \.association.nearKilometres, 1...200, "km", "See near_stations."),
        .number(
            "gate_s", \.association.gate, 0.2...10, "s",
            "How far an onset may be from the time that the travel-time table has; 2 % of the travel time is added."),
        .number(
            "search_km", \.association.searchRadius, 10...1000, "km",
            "Distance around a new onset in which the source is looked for."),
        .number(
            "quiet_s", \.association.quietSeconds, 10...600, "s", "An event ends after this time without a new onset."),
        .number(
            "version_s", \.association.versionSeconds, 0.1...60, "s", "Shortest time between two versions of an event."),
    ]
}
