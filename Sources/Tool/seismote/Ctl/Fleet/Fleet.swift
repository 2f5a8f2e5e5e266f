import MQTT
import Messages
import Platform
import Settings
import Values

/// View of one station by its retained messages.
struct StationView {
    /// Nil: never said.
    var isOnline: Bool?
    var info: Value?
    var config: Value?
    var health: Value?
    var summary: Value?
    var lastEvent: Value?
    var alerts: [String: Value] = [:]

    func isMember(of group: String) -> Bool {
        if group == "all" { return true }
        return (info?["station", "groups"]?.list ?? []).contains { $0.rawText == group }
    }

    var version: String? { info?["agent", "version"]?.text }
    var revision: Int? { config?["rev"]?.whole }

    /// Such as `ntp ±2.1 ms`, from the newest message that says it.
    var clock: String? {
        guard let quality = health?["time"] ?? summary?["tq"] else { return nil }
        guard quality["synced"]?.flag == true else { return "NOT SET" }
        let source = quality["source"]?.text ?? "?"
        return quality["error_ms"]?.number.map { "\(source) ±\(significant($0, 2)) ms" } ?? source
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
            view.alerts[safe(String(rest.dropFirst(12)))] = try? JSONReader.read(message.payload)
        } else {
            let value = try? JSONReader.read(message.payload)
            switch rest {
            case "state/info": view.info = value
            case "state/config": view.config = value
            case "state/health": view.health = value
            case "state/summary": view.summary = value
            case "event/last":
                guard value == nil || EventID.isOf(station: id, value?["event_id"]?.rawText) else { return nil }
                view.lastEvent = value
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
