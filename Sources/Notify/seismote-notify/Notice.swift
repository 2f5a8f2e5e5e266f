import Messages
import Propagation

/// Occasion that may be worth a message, as a broker's messages tell it.
enum Occasion: Sendable, Equatable {
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
    struct Shaking: Sendable, Equatable {
        var station: String
        var eventID: String
        /// Nanoseconds of UTC.
        var onset: Int64
        /// Mercalli; nil where the station gives none.
        var intensity: Double?
        /// False where a start or a gap of the samples leaves open how strong the shaking was.
        var isCertain = true
        /// The intensity on which decisions may rest: where it is not certain, the one from the acceleration; nil without one.
        var safeIntensity: Double?
        /// Class that the station gives it.
        var likely: String
        /// Probability of an earthquake.
        var probability: Double?
        var alarm: Bool
        /// Made by a command, to try what happens.
        var isTest: Bool
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

/// A message for somebody, ready to be sent.
struct Notice: Sendable, Equatable {
    enum Priority: Int, Sendable { case low = 2, ordinary = 3, high = 4, urgent = 5 }

    /// Name of the recipient.
    var recipient: String
    /// Its subject; a later edition takes the place of an earlier one.
    var key: String
    var edition: Int
    var title: String
    var text: String
    var priority: Priority
    /// Address that a click opens; empty: nothing.
    var click: String
}

/// When something that could not be sent is tried again.
enum RetryPolicy {
    /// Longest time for which delivery is tried, ns.
    static let longest: Int64 = 86_400_000_000_000

    /// The pause after so many attempts that failed, ns: 30 s, twice the one before, at most 30 minutes.
    static func pause(after attempts: Int) -> Int64 {
        min(1800, 30 << Int64(min(max(attempts - 1, 0), 10))) * 1_000_000_000
    }

    /// - Returns: the time of the next attempt; nil when it is given up.
    static func next(first: Int64, attempts: Int, now: Int64) -> Int64? {
        let due = now + pause(after: attempts)
        return due - first > longest ? nil : due
    }
}
