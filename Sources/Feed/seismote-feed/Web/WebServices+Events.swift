import Exchange
import Feed
import Messages
import NIOHTTP1
import Settings

/// fdsnws-event: events of single stations, and earthquakes of a network of them.
extension WebServices {
    func events(_ query: FDSNQuery) throws(FDSNQuery.Problem) -> WebAnswer? {
        let format = query.other["format"]?.lowercased() ?? "xml"
        guard ["xml", "quakeml", "text"].contains(format) else { throw .init(words: "format is xml or text") }
        let order = query.other["orderby"] ?? "time"
        guard ["time", "time-asc"].contains(order) else { throw .init(words: "orderby is time or time-asc") }
        let limit = try query.number("limit") ?? 1000
        let box = try Box(query)
        let line = query.lines.first ?? FDSNQuery.Line()
        let rows =
            (try? server.ring.events(
                from: line.begin ?? .min, to: line.end ?? .max, most: Int(max(1, min(limit, 10_000))))) ?? []
        let states = server.board.read { $0.states }
        var (document, text) = (QuakeML(), FDSNText(.events))
        var count = 0
        for row in order == "time" ? rows : rows.reversed() {
            guard let event = try? JSONReader.read(row.payload) else { continue }
            if let id = query.other["eventid"], event["event_id"] != .string(id) { continue }
            let info = states[row.station]?.info
            let isNetwork = row.station == "network"
            let place = isNetwork ? event : info?["station"]
            guard box.contains(place?["latitude"]?.number, place?["longitude"]?.number),
                try Self.isWithin(query, "magnitude", event["magnitude"]?["value"]?.number),
                try Self.isWithin(query, "depth", event["depth_km"]?.number)
            else { continue }
            if format == "text" {
                text.add(event, station: row.station)
            } else if isNetwork {
                document.add(network: event) { id in states[id]?.info.flatMap(Self.codes) }
            } else {
                document.add(row.station, event, info: info)
            }
            count += 1
        }
        guard count > 0 else { return nil }
        return format == "text"
            ? WebAnswer(.ok, text.text) : WebAnswer(.ok, document.text, "application/xml")
    }

    /// What an event does not have is within no limits but none.
    private static func isWithin(
        _ query: FDSNQuery, _ name: String, _ value: Double?
    ) throws(FDSNQuery.Problem) -> Bool {
        let (least, most) = (try query.number("min\(name)"), try query.number("max\(name)"))
        guard least != nil || most != nil else { return true }
        guard let value else { return false }
        return value >= least ?? -.infinity && value <= most ?? .infinity
    }

    private static func codes(_ info: Value) -> (network: String, station: String)? {
        DescribedStation(info: info, config: nil).map { ($0.codes.network, $0.codes.station) }
    }
}
