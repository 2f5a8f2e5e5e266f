/// Vibration of one interval.
public struct VibrationInterval: Sendable, Equatable {
    /// Reason why it is not whole, or what was before it or came after it is missing.
    public struct Interruptions: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Measuring began in it.
        public static let start = Interruptions(rawValue: 1)
        /// Samples were missing, or were not to be used.
        public static let gap = Interruptions(rawValue: 2)
        /// Other settings, or another rate of the sensor: what measures began anew.
        public static let change = Interruptions(rawValue: 4)
        /// Measuring ended in it, in order.
        public static let stop = Interruptions(rawValue: 8)

        private static let all: [(Interruptions, String)] = [
            (.start, "start"), (.gap, "gap"), (.change, "change"), (.stop, "stop"),
        ]

        static var allNames: [String] { all.map(\.1) }

        public var names: [String] { Self.all.filter { contains($0.0) }.map(\.1) }

        /// Takes the members of these names, and ignores others.
        public init(names: [String]) {
            self = Self.all.reduce(into: []) { if names.contains($1.1) { $0.insert($1.0) } }
        }
    }

    /// Values of one axis.
    public struct Axis: Sendable, Equatable {
        /// Peak particle velocity, mm/s, when (ns of UTC), and at which frequency (Hz); see `HalfCycles`.
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

    /// From one zero crossing of the velocity to the next.
    public struct HalfCycle: Sendable, Equatable {
        /// 0, 1, 2 are x, y, z; nil: the vector sum, with the frequency of the axis that moves most.
        public var axis: Int?
        /// Largest velocity, mm/s.
        public var value: Double
        /// When, nanoseconds of UTC.
        public var time: Int64
        /// Hz; nil: not known.
        public var frequency: Double?

        public init(axis: Int?, value: Double, time: Int64, frequency: Double?) {
            (self.axis, self.value, self.time, self.frequency) = (axis, value, time, frequency)
        }
    }

    /// Half cycles of one interval at most: one of each curve, and two of the vector sum.
    public static let mostHalfCycles = LimitCurves.most + 2

    /// Nanoseconds of UTC.
    public var start: Int64 = 0
    /// Seconds.
    public var length = 0
    /// Samples that were measured, and seconds of them.
    public var samples = 0
    public var seconds = 0.0
    /// Gaps in it.
    public var gaps = 0
    public var interruptions: Interruptions = []
    /// x, y and z.
    public var axes = [Axis(), Axis(), Axis()]
    /// Largest vector sum of the velocities, mm/s, and when (ns of UTC).
    public var pvs = 0.0
    public var pvsTime: Int64 = 0
    /// Half cycles that decide on limits: for each curve over frequency of all tables the one that is nearest to it, but those
    /// that are the `ppv` of an axis; behind them those of the vector sum, its largest among them.
    public var halfCycles: [HalfCycle] = []

    public init() {}
}
