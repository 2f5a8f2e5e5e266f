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
    /// Whether that is not going to change.
    public var isCertain = false
    /// Probability of an earthquake, as the station has judged it; nil: it has not yet.
    public var probability: Double?

    /// What the station takes it for.
    public enum Likely: String, Sendable, CaseIterable { case earthquake, disturbance, unclassified }

    public init(eventID: String, station: String, time: Int64) {
        (self.eventID, self.station, self.time, asOf) = (eventID, station, time, time)
    }

    /// How far it speaks for an earthquake, 0 to 1: fully until it is judged.
    var weight: Double {
        switch likely {
        case .earthquake: 1
        case .disturbance: isCertain ? 0 : min(0.3, probability ?? 0.2)
        case .unclassified: probability ?? 1
        }
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
            if later.likely != .unclassified, !isCertain || later.isCertain {
                (new.likely, new.isCertain) = (later.likely, later.isCertain)
            }
            new.probability = later.probability ?? probability
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
