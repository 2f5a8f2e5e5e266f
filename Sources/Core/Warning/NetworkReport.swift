import Messages
import Values

/// A version of a network event as a station reads it. All of it comes from outside; what is out of any range makes all of it
/// unreadable.
struct NetworkReport: Sendable, Equatable {
    struct Magnitude: Sendable, Equatable {
        var value, sigma: Double
    }

    var id: String
    var version: Int
    /// Seconds of UTC: when the version was made, and when the earthquake began.
    var made, origin: Double
    /// Degrees, km.
    var latitude, longitude, depth: Double
    /// Uncertainty of the epicentre, km.
    var uncertainty: Double
    var magnitude: Magnitude?
    /// Different stations that have an onset of it.
    var stations: Int
    /// `place.quality` is `good`.
    var isPlaced: Bool
    var isDisputed: Bool
    /// The stations take it for a disturbance.
    var isDisturbance: Bool
    /// It turned out to be none, or part of another.
    var isGone: Bool

    init?(_ message: Value) {
        func time(_ name: String) -> Double? {
            message[name]?.rawText.flatMap { Timestamp($0)?.nanoseconds }.map { Double($0) / 1e9 }
        }
        func number(_ value: Value?, _ range: ClosedRange<Double>) -> Double? {
            value?.number.flatMap { range.contains($0) ? $0 : nil }
        }
        guard let id = message["event_id"]?.rawText, EventConfirmation.isName(id),
            let version = message["version"]?.whole, (1...1_000_000).contains(version),
            let made = time("t"), let origin = time("origin_time"), (-2...1800).contains(made - origin),
            let latitude = number(message["latitude"], -90...90),
            let longitude = number(message["longitude"], -180...180),
            let depth = number(message["depth_km"], 0...700),
            let uncertainty = number(message["ellipse"]?["semi_major_km"], 0...20_000),
            let quality = message["place"]?["quality"]?.rawText,
            case .array(let stations)? = message["stations"], stations.count <= 10_000
        else { return nil }
        (self.id, self.version, self.made, self.origin) = (id, version, made, origin)
        (self.latitude, self.longitude, self.depth, self.uncertainty) = (latitude, longitude, depth, uncertainty)
        self.stations = Set(stations.compactMap { $0["id"]?.rawText }).count
        isPlaced = quality == NetworkEventMessage.Location.Quality.good.rawValue
        isDisputed = message["disputed"]?.flag == true
        isDisturbance =
            message["class"]?["likely"]?.rawText == NetworkEventMessage.Likely.disturbance.rawValue
        isGone = message["withdrawn"]?.flag == true || message["merged_into"]?.rawText != nil
        switch message["magnitude"] {
        case .object?:
            guard let value = number(message["magnitude"]?["value"], 0...9.5),
                let sigma = number(message["magnitude"]?["sigma"], 0...3)
            else { return nil }
            magnitude = Magnitude(value: value, sigma: sigma)
        case .null?, nil: magnitude = nil
        default: return nil
        }
    }
}
