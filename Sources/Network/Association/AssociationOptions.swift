import Propagation

/// Options that decide which onsets belong together. The defaults are for local and regional networks of cheap sensors.
public struct AssociationOptions: Sendable, Equatable {
    /// Stations that make a network event.
    public var minimumStations = 4
    /// So many are enough where all of them lie within `nearKilometres` of each other and no other station near them is
    /// without an onset.
    public var nearStations = 3
    public var nearKilometres = 30.0
    /// Seconds by which an onset may miss the time of a wave, at the source; `gateSlope` of the travel time more beyond.
    public var gate = 1.2
    var gateSlope = 0.02
    /// Seconds after the newest onset until an older one is no longer waited for.
    public var watermark = 3.0
    /// Kilometres around a new onset within which others may belong to it.
    public var searchRadius = 250.0
    /// Onsets from which on an event is no longer looked for anew, only improved.
    var matureOnsets = 10
    /// Seconds without anything new after which an event ends.
    public var quietSeconds = 40.0
    /// Seconds after its end during which an event still takes late onsets, so that they make no event of their own.
    var memorySeconds = 120.0
    /// Kilometres that a station's own word may be from the place that is known of it.
    public var placeKilometres = 1.0
    /// Depths that the region's earthquakes have.
    public var depth = DepthPrior()
    /// Whether an event is believed that the stations of one operator alone report, far from all others.
    public var believesLoneOperator = false
    /// Seconds between two versions of an event.
    public var versionSeconds = 1.0

    public init() {}

    /// Seconds by which an onset may miss the time of a wave that travels so long.
    func gate(_ travel: Double, _ phase: Phase) -> Double {
        gate + gateSlope * travel + (phase == .s ? 0.5 + 0.01 * travel : 0)
    }
}
