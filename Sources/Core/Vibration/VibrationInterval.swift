/// What vibration amounted to in one interval.
public struct VibrationInterval: Sendable, Equatable {
    /// Of one axis.
    public struct Axis: Sendable, Equatable {
        /// Peak particle velocity, mm/s, when (ns of UTC), and at which frequency (Hz); see `PeakVelocity`.
        public var ppv = 0.0
        public var ppvTime: Int64 = 0
        public var frequency: Double?
        /// mm/s.
        public var rms = 0.0
        /// mm.
        public var displacement = 0.0
        /// m/s².
        public var acceleration = 0.0
        /// See `FeltStrength`.
        public var kbFmax = 0.0
        public var kbFTm = 0.0
        /// m/s², with the weighting of the axis.
        public var weightedRMS = 0.0
        /// m/s^1.75, and its fourth power.
        public var dose = 0.0
        public var doseFourth = 0.0

        public init() {}
    }

    /// Nanoseconds of UTC.
    public var start: Int64 = 0
    /// Seconds.
    public var length = 0
    /// Samples that were measured, and seconds of them.
    public var samples = 0
    public var seconds = 0.0
    /// Gaps in it.
    public var gaps = 0
    /// x, y and z.
    public var axes = [Axis(), Axis(), Axis()]
    /// Largest vector sum of the velocities, mm/s, and when (ns of UTC).
    public var pvs = 0.0
    public var pvsTime: Int64 = 0

    public init() {}
}
