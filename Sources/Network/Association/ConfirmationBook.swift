import Messages
import Values

/// Which stations are to be told that their event is in a network event, or not any more: each once, and again only when
/// it changes. Pure.
public struct ConfirmationBook: Sendable {
    /// Events of stations that are kept in mind; what is forgotten is only told once more.
    public static let most = 20_000
    /// Network event by event of a station.
    private var told: [String: (network: String, station: String)] = [:]
    private var order: [String] = []

    public init() {}

    /// Takes a version of a network event.
    /// - Returns: what is to be told, with the station's id.
    public mutating func take(_ event: NetworkEventMessage) -> [(station: String, confirmation: EventConfirmation)] {
        var news: [(station: String, confirmation: EventConfirmation)] = []
        // What has gone to another network event is told by that one.
        let members = event.isWithdrawn || event.mergedInto != nil ? [] : event.stations
        let names = Set(members.map(\.eventID))
        if event.mergedInto == nil {
            for name in order where told[name]?.network == event.eventID && !names.contains(name) {
                guard let station = told.removeValue(forKey: name)?.station else { continue }
                news.append((station, .init(eventID: name, networkEvent: event.eventID, isConfirmed: false)))
            }
        }
        for one in members where told[one.eventID]?.network != event.eventID {
            if told[one.eventID] == nil { order.append(one.eventID) }
            told[one.eventID] = (event.eventID, one.id)
            news.append((one.id, .init(eventID: one.eventID, networkEvent: event.eventID)))
        }
        if order.count > Self.most {
            for name in order.prefix(Self.most / 2) { told[name] = nil }
            order.removeFirst(Self.most / 2)
        }
        return news
    }
}

extension EventConfirmation {
    /// The command that tells a station so.
    public var request: Value {
        [
            "source": "seismote network", "event_id": .string(eventID), "network_event": .string(networkEvent),
            "confirmed": .bool(isConfirmed),
        ]
    }
}
