import SignalProcessing

/// Which recording is played, and how.
public struct ReplaySettings: Sendable, Equatable {
    public enum Unit: String, Sendable, CaseIterable {
        case metresPerSecondSquared = "m/s^2", g

        /// m/s² of one unit.
        package var factor: Double { self == .g ? standardGravity : 1 }
    }

    /// Path of a CSV or miniSEED file; the content decides which.
    public var file: String
    /// Times real time; 0 is as fast as possible.
    public var speed = 1.0
    /// Start again at the end: time goes on and a gap is declared.
    public var loop = false
    /// m/s² per count of miniSEED, or per unit of the file. Nil: what the recording itself says, and 1 for
    /// samples that are no counts; counts of which nothing is known are refused.
    public var scale: PerAxis<Double>?
    /// Unit of a CSV file's columns, before `scale`.
    public var unit = Unit.metresPerSecondSquared

    public init(file: String = "") { self.file = file }
}
