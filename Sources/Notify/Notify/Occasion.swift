import Propagation

/// Something that may be worth a message, as a broker's messages tell it.
public enum Occasion: Sendable, Equatable {
    /// A station shakes, or has shaken.
    case shaking(Shaking)
    /// Many stations have seen an earthquake.
    case earthquake(Earthquake)
    /// A station has been away for ``BrokerWatch/patience``, since that time (ns UTC).
    case offline(station: String, since: Int64)
    /// A station that was said to be away is back.
    case online(station: String)
    /// Something is wrong at a station since a time (ns UTC).
    case alert(station: String, code: String, since: Int64, severity: Recipient.Severity, message: String)
    /// It is not any more.
    case alertOver(station: String, code: String)
    /// The broker could not be reached for ``BrokerWatch/patience``, since that time (ns UTC): nothing is known of anything.
    case brokerAway(since: Int64)
    /// It can be reached again.
    case brokerBack

    /// A version of a station's event.
    public struct Shaking: Sendable, Equatable {
        public var station: String
        public var eventID: String
        /// Nanoseconds of UTC.
        public var onset: Int64
        /// Mercalli; nil where the station gives none.
        public var intensity: Double?
        /// False where a start or a gap of the samples leaves open how strong the shaking was.
        public var isCertain = true
        /// The intensity on which decisions may rest: where it is not certain, the one from the acceleration; nil without one.
        public var safeIntensity: Double?
        /// Class that the station gives it.
        public var likely: String
        /// Probability of an earthquake.
        public var probability: Double?
        public var alarm: Bool
        /// Made by a command, to try what happens.
        public var isTest: Bool
    }

    /// A version of a network event.
    public struct Earthquake: Sendable, Equatable {
        public var eventID: String
        public var version: Int
        /// Nanoseconds of UTC.
        public var origin: Int64
        public var magnitude: Double?
        /// Nil where the place is not well known.
        public var place: Place?
        /// km.
        public var depth = 10.0
        /// Largest Mercalli intensity at a station.
        public var intensity: Double?
        /// Stations that take part, with their own ids of the event.
        public var stations: [(id: String, eventID: String)]
        /// There was none.
        public var isWithdrawn: Bool
        /// The event that it is part of.
        public var mergedInto: String?

        public static func == (a: Self, b: Self) -> Bool {
            a.eventID == b.eventID && a.version == b.version && a.origin == b.origin && a.magnitude == b.magnitude
                && a.intensity == b.intensity && a.isWithdrawn == b.isWithdrawn && a.mergedInto == b.mergedInto
                && a.depth == b.depth && a.place == b.place
                && a.stations.map(\.eventID) == b.stations.map(\.eventID)
        }
    }
}
