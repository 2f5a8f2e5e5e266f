import ArgumentParser
import MQTT
import Messages
import Platform
import Values

/// `seismote ctl list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the stations known to the broker, with their state.",
        discussion: """
            seismote ctl list --group school

            Reads the stations' retained messages, so offline stations are listed as well. A broker that does not deliver \
            retained messages to wildcard subscriptions (RabbitMQ) shows nothing this way: --ask makes all stations \
            publish their state again.
            """)

    @OptionGroup var names: StationNames

    @Option(help: ArgumentHelp("Only stations of this group.", valueName: "name"))
    var group: String?

    @Flag(help: "Ask all stations to publish their state again.")
    var ask = false

    @Option(help: ArgumentHelp("Maximum waiting time (default: 10 with --ask, else 5).", valueName: "s"))
    var wait: Double?

    @OptionGroup var options: CtlOptions

    func validate() throws {
        if let wait, !(wait > 0 && wait <= 3600) { throw ValidationError("--wait must be above 0 and at most 3600") }
    }

    func run() throws {
        let stations = names.stations
        try ctl {
            let client = try options.connect()
            defer { client.disconnect() }
            var fleet = Fleet(root: client.options.mqtt.root)
            let filters = [
                "state/online", "state/info", "state/config", "state/health", "state/alert/+", "event/last",
            ]
            let line = WaitingLine(enabled: !options.json)
            if ask {
                line.show("asking all stations")
                try fleet.ask(client, filters: filters, within: wait ?? 10)
            } else {
                try fleet.look(client, filters: filters, stations: stations, within: wait ?? 5)
                try fleet.listen(client, stations: stations, within: min(2, wait ?? 2))
            }
            line.clear()
            let found = fleet.seen.filter { one in
                (stations.isEmpty || stations.contains(one.id)) && (group.map(one.view.isMember) ?? true)
            }
            if options.json {
                for one in found { print(Self.value(one.id, one.view).jsonText) }
            } else if found.isEmpty {
                printError("no station found\(ask ? "" : "; try --ask")")
            } else {
                print(Self.table(found))
            }
            let missing = stations.filter { id in !found.contains { $0.id == id } }
            for id in missing { printError("\(id): never seen") }
            if Interrupt.came { return .interrupted }
            return found.isEmpty || !missing.isEmpty ? .silent : .done
        }
    }

    private static func table(_ found: [(id: String, view: StationView)]) -> String {
        var table = Table(
            ["station", "state", "version", "rev", "sensor", "clock", "last event", "alerts"],
            left: [0, 1, 2, 4, 5, 6, 7])
        for (id, view) in found {
            table.add([
                id, state(view), view.version ?? "-", view.revision.map(String.init) ?? "-", sensor(view),
                view.clock ?? "-", event(view.lastEvent), view.alerts.keys.sorted().joined(separator: ", "),
            ])
        }
        return table.text
    }

    private static func state(_ view: StationView) -> String {
        guard view.isOnline == true else { return view.isOnline == nil ? "?" : "offline" }
        guard let sensor = view.health?["sensor"]?.text, sensor != "ok" else { return "online" }
        return "online, \(sensor)"
    }

    private static func sensor(_ view: StationView) -> String {
        guard let sensor = view.info?["sensor"] else { return "-" }
        let rate = sensor["rate_hz"]?.number.map { " \(significant($0, 5)) Hz" } ?? ""
        return (sensor["chip"]?.text ?? sensor["driver"]?.text ?? "?") + rate
    }

    private static func event(_ event: Value?) -> String {
        guard let event else { return "-" }
        return "\(dateAndTime(event["onset"]?.rawText)) \(EventLine.strength(event))"
            + (event["test"]?.flag == true ? " test" : "")
    }

    private static func value(_ id: String, _ view: StationView) -> Value {
        func or(_ value: Value?) -> Value { value ?? .null }
        return [
            "station": .string(id), "online": view.isOnline.map { .bool($0) } ?? .null,
            "version": or(view.info?["agent", "version"]), "rev": or(view.config?["rev"]),
            "pending": or(view.config?["pending"]), "groups": or(view.info?["station", "groups"]),
            "sensor": or(view.info?["sensor"]), "health": or(view.health?["sensor"]),
            "time": or(view.health?["time"] ?? view.summary?["tq"]), "last_event": or(view.lastEvent),
            "alerts": .array(view.alerts.sorted { $0.key < $1.key }.map(\.value)),
        ]
    }
}

extension Fleet {
    /// Makes all stations publish their state again and takes it in; what was kept counts as well.
    mutating func ask(_ client: BrokerClient, filters: [String], within seconds: Double) throws(ClientError) {
        try client.subscribe(filters.map { "\(root)/+/\($0)" })
        let payload: Value = ["source": "seismote ctl"]
        try client.publish("\(root)/group/all/cmd/rebirth", payload.json(), expiry: UInt32(seconds.rounded(.up)))
        let end = monotonicSeconds() + seconds
        while !Interrupt.came, let message = try client.next(until: end) { take(message) }
    }
}
