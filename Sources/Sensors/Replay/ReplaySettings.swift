import MiniSEED
import SignalProcessing

/// What the replay of a recording needs to know; the agent makes it from its configuration.
public struct ReplaySettings: Sendable, Equatable {
    public enum Unit: Sendable, Equatable {
        case metresPerSecondSquared
        case g

        /// m/s² of one unit.
        var factor: Double { self == .g ? standardGravity : 1 }
    }

    /// Path of a CSV or miniSEED file; the content decides which.
    public var file: String
    /// Times real time; 0 is as fast as possible.
    public var speed = 1.0
    /// Start again at the end: time goes on and a gap is declared.
    public var loop = false
    /// m/s² per count of miniSEED, or per unit of the file; x, y, z. Nil: what the recording itself says, and 1 for
    /// samples that are no counts; counts of which nothing is known are refused.
    public var scale: (x: Double, y: Double, z: Double)?
    /// Unit of a CSV file's columns, before `scale`.
    public var unit = Unit.metresPerSecondSquared
    /// Rate in Hz onto which irregular samples of a CSV file are interpolated; nil: their typical rate, rounded.
    /// Regular files keep their own rate.
    public var rate: Double?
    /// Time of t = 0 in nanoseconds since 1970-01-01, for CSV files with seconds from a start. Times from 10⁸ s on
    /// count from 1970, and times of day in ISO form are absolute.
    public var start: Int64 = 0

    public init(file: String) { self.file = file }

    public static func == (a: Self, b: Self) -> Bool {
        let same =
            switch (a.scale, b.scale) {
            case (let a?, let b?): a == b
            case (nil, nil): true
            default: false
            }
        return same && a.file == b.file && a.speed == b.speed && a.loop == b.loop && a.unit == b.unit
            && a.rate == b.rate && a.start == b.start
    }
}

/// A channel of a recording, with the times of its first and last sample (ns of UTC).
public struct RecordedChannel: Sendable, Equatable {
    public var source: SourceIdentifier
    public var start: Int64
    public var end: Int64
}

/// How far a replay has come.
public struct ReplayProgress: Sendable, Equatable {
    /// Samples delivered in this pass of the file.
    public var read: Int
    /// Samples that one pass delivers.
    public var total: Int
}
