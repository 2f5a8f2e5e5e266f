import Values

/// A version of a network event as all programs read it (``NetworkEventMessage`` is what the detector writes). All of it comes
/// from outside: a member of another type counts as missing, and a number outside its range as well.
public struct NetworkEventReading: Sendable {
    /// Magnitudes that an earthquake can have (the largest measured one had 9.5), and their standard deviations.
    public static var magnitudes: ClosedRange<Double> { -5...9.5 }
    static var sigmas: ClosedRange<Double> { 0...3 }
    /// Depths that an earthquake can have, km.
    public static var depths: ClosedRange<Double> { 0...700 }
    /// Half axes of an ellipse on the Earth, km.
    public static var axes: ClosedRange<Double> { 0...20_000 }
    public static var versions: ClosedRange<Int> { 1...1_000_000_000 }
    private static let mostStations = 10_000

    public struct Magnitude: Sendable, Equatable {
        public var value: Double
        public var sigma: Double?
        public init(value: Double, sigma: Double? = nil) { (self.value, self.sigma) = (value, sigma) }
    }

    /// An onset that belongs to the event.
    public struct Station: Sendable, Equatable {
        public var id: String
        /// The station's own id of its event.
        public var eventID: String?
        /// Nanoseconds of UTC.
        public var onset: Int64?
        public var phase: String?
        public var residual, distance: Double?
        public init(id: String, eventID: String?) { (self.id, self.eventID) = (id, eventID) }
    }

    /// Reason why an event is disputed, as far as it is known here.
    public enum Dispute: Sendable, Equatable { case silence, loneOperator, other }

    /// A number of place or size that is none, or outside its range.
    public struct Refused: Sendable {
        public var member: String
        public var value: Value
        public var allowed: ClosedRange<Double>
    }

    public var eventID: String
    public var version: Int
    public var kind: EventMessage.Kind?
    /// Nanoseconds of UTC: when the version was made, and when the earthquake began.
    public var made, origin: Int64?
    /// Degrees, km.
    public var latitude, longitude, depth: Double?
    /// Half axes of the ellipse that has the epicentre in it with 68 %, km; direction of the longer one, degrees.
    public var semiMajor, semiMinor, ellipseAzimuth: Double?
    /// How well the place is known; a word that is not known here is `poor`.
    public var quality: NetworkEventMessage.Location.Quality?
    /// From the middle of the stations, degrees.
    public var azimuth: Double?
    /// Lines of more than two points.
    public var region: [NetworkEventMessage.Location.Ring] = []
    public var magnitude: Magnitude?
    /// Largest Mercalli intensity at a station.
    public var mmi: Double?
    public var likely: NetworkEventMessage.Likely?
    /// The first 10 000 that have an id; nil: there is no list.
    public var stations: [Station]?
    /// Why it is disputed; nil: it is not.
    public var dispute: Dispute?
    /// It turned out to be none.
    public var isWithdrawn = false
    /// It is part of another.
    public var isMerged = false
    /// Latitude, longitude, depth and magnitude that a message has and that cannot be.
    public private(set) var refused: [Refused] = []

    public init(eventID: String, version: Int) { (self.eventID, self.version) = (eventID, version) }

    /// Nil: it is no version of a network event, by its id and its number.
    public init?(_ message: Value) {
        guard let id = message["event_id"]?.rawText, EventID.isOfNetwork(id),
            let version = message["version"]?.whole, Self.versions.contains(version)
        else { return nil }
        self.init(eventID: id, version: version)
        kind = message["event_type"]?.rawText.flatMap { EventMessage.Kind(rawValue: $0) }
        (made, origin) = (message["t"]?.time, message["origin_time"]?.time)
        latitude = number("latitude", message["latitude"], -90...90)
        longitude = number("longitude", message["longitude"], -180...180)
        depth = number("depth_km", message["depth_km"], Self.depths)
        let ellipse = message["ellipse"]
        semiMajor = ellipse?["semi_major_km"]?.number(in: Self.axes)
        semiMinor = ellipse?["semi_minor_km"]?.number(in: Self.axes)
        ellipseAzimuth = ellipse?["azimuth_deg"]?.number
        let place = message["place"]
        quality = place?["quality"]?.rawText.map { .init(rawValue: $0) ?? .poor }
        azimuth = place?["azimuth_deg"]?.number
        region = (place?["region"]?.list ?? []).compactMap(Self.ring)
        let size = message["magnitude"]
        if let value = number("magnitude.value", size?["value"], Self.magnitudes) {
            magnitude = Magnitude(value: value, sigma: size?["sigma"]?.number(in: Self.sigmas))
        }
        mmi = message["mmi"]?["value"]?.number
        likely = message["class"]?["likely"]?.rawText.flatMap { .init(rawValue: $0) }
        stations = message["stations"]?.list?.prefix(Self.mostStations).compactMap { Station($0) }
        if message["disputed"]?.flag == true {
            // (A detector that has only one reason does not name it.)
            let reason = message["disputed_because"]?.rawText ?? NetworkEventMessage.Dispute.silence.rawValue
            dispute =
                switch NetworkEventMessage.Dispute(rawValue: reason) {
                case .silence: .silence
                case .loneOperator: .loneOperator
                case nil: .other
                }
        }
        isWithdrawn = message["withdrawn"]?.flag == true
        isMerged = message["merged_into"].map { $0 != .null } ?? false
    }

    /// Notes what is refused.
    private mutating func number(_ member: String, _ value: Value?, _ allowed: ClosedRange<Double>) -> Double? {
        guard let value, value != .null else { return nil }
        if let number = value.number(in: allowed) { return number }
        refused.append(Refused(member: member, value: value, allowed: allowed))
        return nil
    }

    private static func ring(_ ring: Value) -> NetworkEventMessage.Location.Ring? {
        guard let north = ring["latitude"]?.list, let east = ring["longitude"]?.list else { return nil }
        let (latitude, longitude) = (north.compactMap(\.number), east.compactMap(\.number))
        guard latitude.count > 2, latitude.count == longitude.count, latitude.count == north.count,
            longitude.count == east.count
        else { return nil }
        return .init(latitude: latitude, longitude: longitude)
    }
}

extension NetworkEventReading.Station {
    fileprivate init?(_ station: Value) {
        guard let id = station["id"]?.rawText else { return nil }
        self.init(id: id, eventID: station["event_id"]?.rawText.flatMap { EventID.isValid($0) ? $0 : nil })
        (onset, phase) = (station["onset"]?.time, station["phase"]?.rawText)
        (residual, distance) = (station["residual_s"]?.number, station["distance_km"]?.number)
    }
}
