import ArgumentParser
import MQTT
import Messages
import Platform
import Settings
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
        guard let sensor = view.health?.sensor?.printable, sensor != "ok" else { return "online" }
        return "online, \(sensor)"
    }

    private static func sensor(_ view: StationView) -> String {
        guard let sensor = view.info?.sensor else { return "-" }
        let rate = sensor.rate.map { " \(significant($0, 5)) Hz" } ?? ""
        return (sensor.chip ?? sensor.driver ?? "?").printable + rate
    }

    private static func event(_ event: StationEventMembers?) -> String {
        guard let event else { return "-" }
        return "\(dateAndTime(event.onsetText)) \(EventLine.strength(event))" + (event.isTest ? " test" : "")
    }

    /// As the station has sent it, of any type.
    private static func value(_ id: String, _ view: StationView) -> Value {
        func or(_ value: Value?) -> Value { value ?? .null }
        let (info, config, health) = (view.info?.tree, view.config?.tree, view.health?.tree)
        return [
            "station": .string(id), "online": view.isOnline.map { .bool($0) } ?? .null,
            "version": or(info?["agent", "version"]), "rev": or(config?["rev"]),
            "pending": or(config?["pending"]), "groups": or(info?["station", "groups"]),
            "sensor": or(view.info?.sensor?.tree), "health": or(health?["sensor"]),
            "time": or((view.health?.clock ?? view.summary?.clock)?.tree), "last_event": or(view.lastEvent?.tree),
            "alerts": .array(view.alerts.sorted { $0.key < $1.key }.map(\.value.tree)),
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

/// View of one station by its retained messages.
struct StationView {
    /// Nil: never said.
    var isOnline: Bool?
    var info: InfoReading?
    var config: ConfigReading?
    var health: HealthReading?
    var summary: SummaryReading?
    var lastEvent: StationEventMembers?
    var alerts: [String: AlertReading] = [:]

    func isMember(of group: String) -> Bool {
        if group == "all" { return true }
        return info?.station?.groups.contains(group) ?? false
    }

    var version: String? { info?.version?.printable }
    var revision: Int? { config?.revision }

    /// Such as `ntp ±2.1 ms`, from the newest message that says it.
    var clock: String? {
        guard let quality = health?.clock ?? summary?.clock else { return nil }
        guard quality.isSynced else { return "NOT SET" }
        let source = quality.source?.printable ?? "?"
        return quality.error.map { "\(source) ±\(significant($0, 2)) ms" } ?? source
    }
}

/// Stations as their messages show them.
struct Fleet {
    /// Stations that are remembered; a broker with more of them is not looked at to the end.
    private static let limit = 100_000

    let root: String
    private(set) var stations: [String: StationView] = [:]

    /// Messages that a present station sends by itself.
    private static let lifeSigns = ["state/level", "state/summary", "state/health"]

    /// Takes in a message below `state` or `event/last`; others are ignored. A live message proves that the
    /// station is online, even if the retained state is stale.
    /// - Returns: the station, when it was one of those.
    @discardableResult
    mutating func take(_ message: InboundMessage) -> String? {
        // (`network/event/last` is no station's.)
        guard let (id, rest) = Topics.split(message.topic, root: root),
            stations[id] != nil || stations.count < Self.limit
        else { return nil }
        var view = stations[id] ?? StationView()
        if rest == "state/online" {
            view.isOnline = message.payload.isEmpty ? nil : message.payload == Array("online".utf8)
        } else if rest.hasPrefix("state/alert/") {
            view.alerts[safe(String(rest.dropFirst(12)))] = (try? JSONReader.read(message.payload)).map(
                AlertReading.init)
        } else {
            let value = try? JSONReader.read(message.payload)
            switch rest {
            case "state/info": view.info = value.map(InfoReading.init)
            case "state/config": view.config = value.map(ConfigReading.init)
            case "state/health": view.health = value.map(HealthReading.init)
            case "state/summary": view.summary = value.map(SummaryReading.init)
            case "event/last":
                let event = value.map(StationEventMembers.init)
                guard event.map({ EventID.isOf(station: id, $0.id) }) ?? true else { return nil }
                view.lastEvent = event
            case "state/level": break
            default: return nil
            }
            if !message.isRetained, value != nil, Self.lifeSigns.contains(rest) { view.isOnline = true }
        }
        stations[id] = view
        return id
    }

    /// Subscribes and takes in what the broker has kept, until nothing new has come for a while.
    /// - Parameters:
    ///   - filters: below a station.
    ///   - seconds: at most.
    mutating func look(
        _ client: BrokerClient, filters: [String], stations only: [String] = [], within seconds: Double
    ) throws(ClientError) {
        let names = only.isEmpty ? ["+"] : only
        let all = names.flatMap { name in filters.map { "\(root)/\(name)/\($0)" } }
        try client.gather(all, within: seconds) { take($0) != nil }
        client.unsubscribe(all)
    }

    /// Listens whether some of these stations speak that the broker does not know, or calls offline: a cluster may keep what
    /// it keeps on another node, or what a connection said that is no more (see `Exchange`).
    mutating func listen(_ client: BrokerClient, stations names: [String], within seconds: Double) throws(ClientError) {
        func isDoubtful(_ id: String) -> Bool { stations[id]?.isOnline != true }
        let doubtful = names.filter(isDoubtful)
        let filters = doubtful.flatMap { name in Self.lifeSigns.map { "\(root)/\(name)/\($0)" } }
        try client.subscribe(filters)
        let end = monotonicSeconds() + seconds
        while doubtful.contains(where: isDoubtful), let message = try client.next(until: end) { take(message) }
        client.unsubscribe(filters)
    }

    /// Stations that have described themselves, by name.
    var seen: [(id: String, view: StationView)] {
        stations.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }.filter {
            $0.view.isOnline != nil || $0.view.info != nil || $0.view.summary != nil
        }
    }
}
