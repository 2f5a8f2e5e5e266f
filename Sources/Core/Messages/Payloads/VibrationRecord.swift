import Values
import Vibration

/// One interval of vibration as it is stored, and as a report reads it: what of a `data/vibration` message is needed later.
public struct VibrationRecord: Sendable, Equatable {
    /// Values of one axis.
    public struct Axis: Sendable, Equatable {
        /// mm/s.
        public var ppv = 0.0
        /// When it was reached, seconds after the begin of the interval.
        public var peak = 0.0
        /// Hz; nil: not known.
        public var frequency: Double?
        /// mm/s.
        public var rms = 0.0
        /// Largest in the band, mm; nil: not known.
        public var displacement: Double?
        /// Largest in the band, m/s²; nil: not known.
        public var acceleration: Double?
        public var kbFmax = 0.0
        public var kbFTm = 0.0
        /// Name in ``FrequencyWeighting/all``; empty: not known.
        public var weighting = ""
        /// m/s².
        public var weightedRMS = 0.0
        /// m/s^1.75.
        public var dose = 0.0
        /// Floor of `ppv`, mm/s; nil: not known.
        public var floor: Double?

        public init() {}
    }

    public static let axisNames = ["x", "y", "z"]

    /// Name of an axis; of nil that of the vector sum.
    public static func axisName(_ axis: Int?) -> String { axis.map { axisNames[$0] } ?? "vector" }

    /// Seconds that an interval may have.
    public static let lengths = 1...86_400

    /// Nanoseconds of UTC.
    public var start: Int64 = 0
    /// Seconds, and seconds of it that were measured.
    public var length = 1
    public var seconds = 0.0
    public var gaps = 0
    public var interruptions: VibrationInterval.Interruptions = []
    /// Corners of the band, Hz.
    public var lower = 0.0
    public var upper = 0.0
    /// x, y and z.
    public var axes = [Axis(), Axis(), Axis()]
    /// Largest vector sum, mm/s.
    public var pvs = 0.0
    /// When it was reached, seconds after the begin of the interval; nil: not known.
    public var pvsPeak: Double?
    /// Half cycles that decide on limits; empty for intervals that an earlier version has stored.
    public var halfCycles: [VibrationInterval.HalfCycle] = []

    public init() {}

    /// The interval of a message; nil: it is none.
    public init?(_ message: Value) {
        guard let start = message["start"]?.anyTime,
            let length = message["interval_s"]?.whole, Self.lengths.contains(length),
            let seconds = message["seconds"]?.number, let pvs = message["pvs"]?.number
        else { return nil }
        for (k, name) in Self.axisNames.enumerated() {
            guard let one = message[name], let ppv = one["ppv"]?.number, let rms = one["rms"]?.number else {
                return nil
            }
            (axes[k].ppv, axes[k].rms) = (ppv, rms)
            if let time = one["t"]?.anyTime { axes[k].peak = Double(time &- start) / 1e9 }
            axes[k].frequency = one["frequency_hz"]?.number
            axes[k].displacement = one["displacement"]?.number
            axes[k].acceleration = one["acceleration"]?.number
            axes[k].kbFmax = one["kb_fmax"]?.number ?? 0
            axes[k].kbFTm = one["kb_ftm"]?.number ?? 0
            axes[k].weighting = one["weighting"]?.rawText ?? ""
            axes[k].weightedRMS = one["aw_rms"]?.number ?? 0
            axes[k].dose = one["vdv"]?.number ?? 0
            axes[k].floor = one["floor"]?["ppv"]?.number
        }
        (self.start, self.length, self.seconds, self.pvs) = (start, length, seconds, pvs)
        gaps = message["gaps"]?.whole ?? 0
        if let time = message["pvs_t"]?.anyTime { pvsPeak = Double(time &- start) / 1e9 }
        if case .array(let all)? = message["interrupted"] {
            interruptions = .init(names: all.prefix(8).compactMap(\.rawText))
        }
        if case .array(let all)? = message["half_cycles"] {
            halfCycles = all.prefix(VibrationInterval.mostHalfCycles).compactMap(Self.halfCycle)
        }
        lower = message["band"]?["lower_hz"]?.number ?? 0
        upper = message["band"]?["upper_hz"]?.number ?? 0
    }

    private static func halfCycle(_ one: Value) -> VibrationInterval.HalfCycle? {
        guard let name = one["axis"]?.rawText, name == "vector" || axisNames.contains(name),
            let value = one["value"]?.number, let time = one["t"]?.anyTime
        else { return nil }
        return .init(
            axis: axisNames.firstIndex(of: name), value: value, time: time,
            frequency: one["frequency_hz"]?.number)
    }

    /// The axis with the largest peak.
    public var strongest: Int { axes.indices.max { axes[$0].ppv < axes[$1].ppv } ?? 0 }

    /// As limits, doses and the floor see it.
    public var interval: VibrationInterval {
        var interval = VibrationInterval()
        (interval.start, interval.length, interval.seconds, interval.pvs) = (start, length, seconds, pvs)
        interval.pvsTime = start &+ Int64((pvsPeak ?? 0) * 1e9)
        interval.halfCycles = halfCycles
        for k in 0..<3 {
            interval.axes[k].ppvTime = start &+ Int64((axes[k].peak * 1e9).rounded())
            (interval.axes[k].ppv, interval.axes[k].frequency) = (axes[k].ppv, axes[k].frequency)
            (interval.axes[k].rms, interval.axes[k].kbFmax) = (axes[k].rms, axes[k].kbFmax)
            (interval.axes[k].weightedRMS, interval.axes[k].dose) = (axes[k].weightedRMS, axes[k].dose)
            let square = axes[k].dose * axes[k].dose
            interval.axes[k].doseFourth = square * square
        }
        return interval
    }

    /// Whether both were measured in the same way, so that they can stand in one table.
    public func isLike(_ other: VibrationRecord) -> Bool {
        length == other.length && lower == other.lower && upper == other.upper
            && (0..<3).allSatisfy { axes[$0].weighting == other.axes[$0].weighting }
    }
}
