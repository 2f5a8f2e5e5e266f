/// What is known of one event of one station.
public struct StationOnset: Sendable, Equatable {
    /// The station's own id of it.
    public var eventID: String
    public var station: String
    /// Nanoseconds of UTC.
    public var time: Int64
    /// The time that what follows refers to, nanoseconds of UTC.
    public var asOf: Int64
    /// Largest so far, m/s².
    public var pga = 0.0
    /// Largest Mercalli intensity so far.
    public var mmi: Double?
    public var likely = Likely.unclassified
    /// Whether that is not going to change.
    public var isCertain = false

    /// What the station takes it for.
    public enum Likely: String, Sendable, CaseIterable { case earthquake, disturbance, unclassified }

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
            if later.likely != .unclassified, !isCertain || later.isCertain {
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
