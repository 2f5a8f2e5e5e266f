import MQTT
import Messages
import Platform
import Propagation
import Settings
import Values

/// Places of the stations of a network, as a broker has them.
struct NetworkPlaces {
    struct Station {
        /// By its own word.
        var stated: Place?
        /// By the operator's.
        var entered: Place?
        /// The detector says that it takes no part; km from where it is known to be.
        var apart: Double?
    }

    /// Stations that are remembered.
    private static let limit = 100_000

    let root: String
    private(set) var stations: [String: Station] = [:]

    /// Takes in what the broker has kept, until nothing new has come for half a second.
    mutating func look(_ client: BrokerClient, within seconds: Double) throws(ClientError) {
        let filters = ["\(root)/+/state/info", Topics.place(of: "+", root: root), "\(root)/network/status"]
        try client.gather(filters, within: seconds) { take($0) }
    }

    /// Waits until the detector has said how it is, after what was entered.
    /// - Returns: whether it has.
    mutating func await(_ client: BrokerClient, within seconds: Double) throws(ClientError) -> Bool {
        let end = monotonicSeconds() + seconds
        var isAnswered = false
        // A station that was confirmed is asked for its place again, which may take a second.
        var quiet = end
        while !Interrupt.came, let message = try client.next(until: min(end, quiet)) {
            guard take(message), message.topic == "\(root)/network/status", !message.isRetained,
                (try? JSONReader.read(message.payload))?["online"]?.flag == true
            else { continue }
            isAnswered = true
            quiet = monotonicSeconds() + (stations.values.contains { $0.apart != nil } ? 2 : 0)
        }
        return isAnswered
    }

    private mutating func take(_ message: InboundMessage) -> Bool {
        let value = try? JSONReader.read(message.payload)
        if let id = Topics.stationPlaced(by: message.topic, root: root) {
            guard Topics.problem(inID: id) == nil, hasRoom(for: id) else { return false }
            stations[id, default: Station()].entered = value.flatMap { try? Place.reading($0) }
        } else if message.topic == "\(root)/network/status" {
            for id in stations.keys { stations[id]?.apart = nil }
            for one in value?["moved"]?.list ?? [] {
                guard let id = one["id"]?.rawText, Topics.problem(inID: id) == nil, hasRoom(for: id) else { continue }
                stations[id, default: Station()].apart = one["distance_km"]?.number
            }
        } else {
            guard let (id, rest) = Topics.split(message.topic, root: root), rest == "state/info", hasRoom(for: id),
                let identity = value?["station"]
            else { return false }
            stations[id, default: Station()].stated = try? Place.reading(identity)
        }
        return true
    }

    private func hasRoom(for id: String) -> Bool { stations[id] != nil || stations.count < Self.limit }

    var rows: [(id: String, station: Station)] {
        stations.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }.filter {
            $0.station.stated != nil || $0.station.entered != nil || $0.station.apart != nil
        }
    }

    /// Message for a place that was entered, or confirmed.
    static func payload(_ place: Place) -> [UInt8] {
        let value: Value = [
            "latitude": .double(place.latitude), "longitude": .double(place.longitude),
            "elevation_m": .double(place.elevation * 1000), "source": "seismote network stations",
        ]
        return value.json()
    }

    var table: String {
        var table = Table(["station", "states", "entered", "apart", ""], left: [0, 1, 2, 4])
        for (id, station) in rows {
            let known = station.entered.flatMap { entered in station.stated.map { $0.distance(to: entered) } }
            let apart = station.apart ?? known
            table.add([
                id, Self.text(station.stated), Self.text(station.entered),
                apart.map { "\(significant($0, 3)) km" } ?? "-",
                station.apart == nil ? "" : "has moved: takes no part until --confirm \(id)",
            ])
        }
        return table.text
    }

    private static func text(_ place: Place?) -> String {
        guard let place else { return "-" }
        return "\(significant(place.latitude, 7)), \(significant(place.longitude, 7))"
    }

    func value(_ id: String, _ station: Station) -> Value {
        func value(_ place: Place?) -> Value {
            guard let place else { return .null }
            return ["latitude": .double(place.latitude), "longitude": .double(place.longitude)]
        }
        return [
            "station": .string(id), "states": value(station.stated), "entered": value(station.entered),
            "moved": .bool(station.apart != nil), "apart_km": station.apart.map { .double($0) } ?? .null,
        ]
    }
}
