import Messages

@testable import seismote_notify

extension Occasion {
    /// A version of a network event; its place is well known where there is one.
    static func quake(
        _ id: String, version: Int, origin: Int64, magnitude: Double?, place: (Double, Double)?, intensity: Double,
        stations: [(String, String)], dispute: NetworkEventReading.Dispute?, isWithdrawn: Bool
    ) -> Occasion {
        var event = NetworkEventReading(eventID: id, version: version)
        event.origin = origin
        event.magnitude = magnitude.map { .init(value: $0) }
        (event.latitude, event.longitude) = (place?.0, place?.1)
        (event.quality, event.mmi) = (place == nil ? .poor : .good, intensity)
        event.stations = stations.map { .init(id: $0.0, eventID: $0.1) }
        (event.dispute, event.isWithdrawn) = (dispute, isWithdrawn)
        return .earthquake(event, origin: origin)
    }
}
