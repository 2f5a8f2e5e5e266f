import Messages
import Propagation

/// Occasion that may be worth a message, as a broker's messages tell it.
public enum Occasion: Sendable, Equatable {
    /// A station shakes, or has shaken.
    case shaking(Shaking)
    /// Many stations have seen an earthquake; when it began (ns UTC).
    case earthquake(NetworkEventReading, origin: Int64)
    /// A station has been away for ``BrokerWatch/patience``, since that time (ns UTC).
    case offline(station: String, since: Int64)
    /// A station that was said to be away is back.
    case online(station: String)
    /// A station has had an alert since a time (ns UTC).
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
}

/// (The agent reads network events too, and compares none: it has no room for what it does not use.)
extension NetworkEventReading: Equatable {
    public static func == (a: Self, b: Self) -> Bool {
        a.eventID == b.eventID && a.version == b.version && a.origin == b.origin && a.magnitude == b.magnitude
            && a.mmi == b.mmi && a.isWithdrawn == b.isWithdrawn && a.isMerged == b.isMerged && a.depth == b.depth
            && a.knownPlace == b.knownPlace && a.dispute == b.dispute && a.stations == b.stations
    }
}

extension NetworkEventReading {
    /// Nil where the place is not well known.
    var knownPlace: Place? {
        guard quality == .good, let latitude, let longitude else { return nil }
        return Place(latitude: latitude, longitude: longitude)
    }

    /// Largest Mercalli intensity at a station.
    var intensity: Double? { mmi.map(BrokerWatch.step) }
}

extension NetworkEventReading.Dispute {
    /// A sentence that says so to the recipient.
    var sentence: String {
        switch self {
        case .silence: "Disputed: stations nearby must have been shaken by it and were not."
        case .loneOperator:
            "Disputed: one operator's stations alone report it, and no other station is near enough to confirm it."
        case .other: "Disputed by the network detector."
        }
    }
}
