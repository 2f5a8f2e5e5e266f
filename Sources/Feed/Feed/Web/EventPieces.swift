import Exchange
import Messages
import Values

/// A document of events, which is put together some events at a time, so that nobody waits long for his turn.
struct EventPieces: WebPieces {
    enum Format: Sendable { case quakeML, text }

    /// Events for a turn: about a millisecond.
    private static let ofTurn = 32

    private let rows: [Int64]
    private let format: Format
    private let states: [String: SharedState.StationState]
    private var place = 0
    private var count = 0
    private var document = QuakeML()
    private var text = FDSNText(.events)

    /// - Parameters:
    ///   - rows: of the events in the ring, in order.
    ///   - states: what is known of stations, by id.
    init(_ rows: [Int64], as format: Format, states: [String: SharedState.StationState]) {
        (self.rows, self.format, self.states) = (rows, format, states)
    }

    var isOver: Bool { place >= rows.count }

    /// - Returns: nothing until it is complete.
    mutating func next(_ ring: Ring) -> [UInt8]? {
        if isOver { return nil }
        let some = rows[place..<min(rows.count, place + Self.ofTurn)]
        place = some.endIndex
        for one in (try? ring.events(rows: some)) ?? [] {
            guard let event = try? JSONReader.read(one.payload) else { continue }
            count += 1
            if format == .text {
                text.add(event, station: one.owner)
            } else if one.owner == "network" {
                document.add(network: event) { [states] id in states[id]?.info.flatMap(Self.codes) }
            } else {
                document.add(one.owner, event, info: states[one.owner]?.info)
            }
        }
        guard isOver else { return [] }
        guard count > 0 else { return nil }
        return Array((format == .text ? text.text : document.text).utf8)
    }

    private static func codes(_ info: Value) -> (network: String, station: String)? {
        DescribedStation(info: info, config: nil).map { ($0.codes.network, $0.codes.station) }
    }
}
