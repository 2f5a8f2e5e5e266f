/// All that is known of one event of one station.
struct StationOnset: Sendable, Equatable {
    /// The station's own id of it.
    var eventID: String
    var station: String
    /// Nanoseconds of UTC.
    var time: Int64
    /// The time that what follows refers to, nanoseconds of UTC.
    var asOf: Int64
    /// When the first wave arrived as the station sees it, nanoseconds of UTC, with its standard deviation in seconds.
    var arrival: Arrival?
    struct Arrival: Sendable, Equatable {
        var time: Int64
        var sigma: Double

        init(time: Int64, sigma: Double) { (self.time, self.sigma) = (time, sigma) }
    }
    /// Largest so far, m/s².
    var pga = 0.0
    /// Largest Mercalli intensity so far.
    var mmi: Double?
    /// Newest judgement of its station; nil: it has not judged yet.
    var judgement: Judgement?

    /// Class that a station gives an event.
    enum Likely: String, Sendable, CaseIterable {
        case earthquake, disturbance, unclassified

        fileprivate var rank: Int {
            switch self {
            case .earthquake: 2
            case .disturbance: 1
            case .unclassified: 0
            }
        }
    }

    /// A station judges an event again and again while it shakes, and may go back on what it has said.
    struct Judgement: Sendable, Equatable {
        var likely: Likely
        /// Probability of an earthquake, 0 to 1; nil: not said.
        var probability: Double?
        /// Whether it is the last one.
        var isFinal: Bool
        /// The newest sample that it is made of, nanoseconds of UTC.
        var asOf: Int64

        init(_ likely: Likely, probability: Double?, isFinal: Bool, asOf: Int64) {
            (self.likely, self.probability, self.isFinal, self.asOf) = (likely, probability, isFinal, asOf)
        }

        /// Order of two judgements, whatever order they come in: the later one holds. That is the last one, or the one
        /// of more samples; of as many, the one that says more.
        func isBefore(_ other: Judgement) -> Bool {
            if isFinal != other.isFinal { return other.isFinal }
            if asOf != other.asOf { return asOf < other.asOf }
            return (likely.rank, probability ?? 0) < (other.likely.rank, other.probability ?? 0)
        }

        /// How far it speaks for an earthquake, 0 to 1.
        var weight: Double {
            switch likely {
            case .earthquake: 1
            case .disturbance: min(0.3, probability ?? (isFinal ? 0 : 0.2))
            case .unclassified: probability ?? 1
            }
        }
    }

    init(eventID: String, station: String, time: Int64) {
        (self.eventID, self.station, self.time, asOf) = (eventID, station, time, time)
    }

    var likely: Likely { judgement?.likely ?? .unclassified }

    /// Whether its station has said for good that it is no earthquake.
    var isDismissed: Bool { likely == .disturbance && judgement?.isFinal == true }

    /// How far it speaks for an earthquake, 0 to 1: fully until it is judged.
    var weight: Double { judgement?.weight ?? 1 }

    /// Seconds of UTC.
    var seconds: Double { Double(time) / 1e9 }

    /// Takes over what another message says of the same event; peaks only grow. In whatever order they come, and however
    /// often, the result is the same.
    /// - Returns: whether anything is different.
    mutating func update(_ later: StationOnset) -> Bool {
        var new = self
        new.pga = max(pga, later.pga)
        if let mmi = later.mmi { new.mmi = max(mmi, self.mmi ?? mmi) }
        if later.asOf >= asOf {
            new.asOf = later.asOf
            if let arrival = later.arrival { new.arrival = arrival }
        }
        if let judged = later.judgement, judgement?.isBefore(judged) ?? true { new.judgement = judged }
        let changed = new != self
        self = new
        return changed
    }

    /// All onsets have one order: by time, then by name.
    static func precedes(_ a: StationOnset, _ b: StationOnset) -> Bool {
        a.time != b.time ? a.time < b.time : a.eventID < b.eventID
    }
}
