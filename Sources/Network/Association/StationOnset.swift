/// What is known of one event of one station.
public struct StationOnset: Sendable, Equatable {
    /// The station's own id of it.
    public var eventID: String
    public var station: String
    /// Nanoseconds of UTC.
    public var time: Int64
    /// The time that what follows refers to, nanoseconds of UTC.
    public var asOf: Int64
    /// When the first wave arrived as the station sees it, nanoseconds of UTC, with its standard deviation in seconds.
    public var arrival: Arrival?
    public struct Arrival: Sendable, Equatable {
        public var time: Int64
        public var sigma: Double

        public init(time: Int64, sigma: Double) { (self.time, self.sigma) = (time, sigma) }
    }
    /// Largest so far, m/s².
    public var pga = 0.0
    /// Largest Mercalli intensity so far.
    public var mmi: Double?
    public var likely = Likely.unclassified
    /// Whether the station is certain of it by its own measure.
    public var isCertain = false

    /// What the station takes it for.
    public enum Likely: String, Sendable, CaseIterable {
        case earthquake, disturbance, unclassified

        fileprivate var rank: Int {
            switch self {
            case .earthquake: 2
            case .disturbance: 1
            case .unclassified: 0
            }
        }
    }

    public init(eventID: String, station: String, time: Int64) {
        (self.eventID, self.station, self.time, asOf) = (eventID, station, time, time)
    }

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
            // A class may go back. Of two of one moment, whichever comes first, the one that says more counts.
            if later.asOf > asOf || (likely.rank, isCertain ? 1 : 0) < (later.likely.rank, later.isCertain ? 1 : 0) {
                (new.likely, new.isCertain) = (later.likely, later.isCertain)
            }
        }
        let changed = new != self
        self = new
        return changed
    }

    /// All onsets have one order: by time, then by name.
    static func precedes(_ a: StationOnset, _ b: StationOnset) -> Bool {
        a.time != b.time ? a.time < b.time : a.eventID < b.eventID
    }
}
