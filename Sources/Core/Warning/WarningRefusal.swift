import Propagation

/// Reason why no warning was made of a message.
public enum WarningRefusal: String, Sendable, CaseIterable {
    /// It came on another topic than that of the network's events.
    case topic
    /// The broker had kept it from an earlier time.
    case retained
    /// No version of a network event, or one with a value out of its range.
    case unreadable
    /// Made more than 2 s after now: their clock or ours is wrong.
    case clock
    /// Made more than 30 s ago.
    case old
    /// `place.quality` is not `good`.
    case place
    /// Fewer than `alarm.network.stations`.
    case stations
    /// It has no magnitude.
    case magnitude
    /// As many stations are silent as have an onset.
    case disputed
    /// Its stations take it for a disturbance.
    case `class`
    /// Beyond the reach of the relation.
    case distance
    /// The S wave was here more than 10 s ago.
    case passed
    /// Too many at a time.
    case many
    /// It was pushed out by newer ones before it was looked at.
    case crowded

    /// For the log.
    public var words: String {
        switch self {
        case .topic: "not on the network's own topic"
        case .retained: "retained by the broker"
        case .unreadable: "not a readable version of a network event"
        case .clock: "its time lies ahead of this station's clock by more than 2 s"
        case .old: "older than 30 s"
        case .place: "its place is not well known (place.quality is not good)"
        case .stations: "fewer stations than alarm.network.stations"
        case .magnitude: "it has no magnitude"
        case .disputed: "disputed: stations that must have been moved are silent, or one operator's alone report it"
        case .class: "the stations take it for a disturbance"
        case .distance: "farther than \(Int(IntensityPrediction.reach)) km"
        case .passed: "the S wave has passed"
        case .many: "more than \(NetworkWarning.most) events at a time"
        case .crowded: "too many messages at once; the newest ones count"
        }
    }
}
