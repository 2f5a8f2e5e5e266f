import Values
import Vibration

/// Vibration of one interval (`data/vibration`), as standards measure it.
public struct VibrationMessage: Sendable, Equatable {
    /// Relation of an interval to the limit.
    public enum State: String, Sendable, CaseIterable {
        /// Below the warning share.
        case ok
        case warning
        /// At the limit or above.
        case exceeded
    }

    public enum Period: String, Sendable, CaseIterable { case day, night }

    /// Values of one axis.
    public struct Axis: Sendable, Equatable {
        public var values = VibrationInterval.Axis()
        /// Name of the weighting.
        public var weighting = ""
        /// m/s^1.75, of the day or night so far.
        public var dosePeriod = 0.0
        /// Nil until it is known.
        public var floor: NoiseFloor.Values?

        public init() {}

        /// Whether the peak is hardly more than the sensor's noise.
        var isBelowFloor: Bool? { floor.map { values.ppv < 3 * $0.ppv } }

        package func fields(_ f: inout some FieldVisitor) {
            f.number("ppv", values.ppv, unit: "mm/s", "Peak particle velocity: the largest in the band.")
            f.time("t", values.ppvTime, "When it was reached.")
            f.visit(
                Field(
                    "frequency_hz", "Frequency of the peak by the zero crossings around it; null without both.",
                    .nullable, unit: "Hz"), values.frequency)
            f.number("rms", values.rms, unit: "mm/s", "Root mean square of the velocity.")
            f.number("displacement", values.displacement, unit: "mm", "Largest displacement in the band.")
            f.number("acceleration", values.acceleration, unit: "m/s^2", "Largest acceleration in the band.")
            f.number("kb_fmax", values.kbFmax, unit: "1", "Largest weighted strength KB_F (DIN 4150-2).")
            f.number("kb_ftm", values.kbFTm, unit: "1", "Its takt mean value KB_FTm.")
            f.text("weighting", weighting, "Frequency weighting of the axis for people: `wk`, `wd`, `wb` or `wm`.")
            f.number("aw_rms", values.weightedRMS, unit: "m/s^2", "Root mean square of the weighted acceleration.")
            f.number("vdv", values.dose, unit: "m/s^1.75", "Vibration dose value of the interval.")
            f.number("vdv_period", dosePeriod, unit: "m/s^1.75", "Vibration dose value of the day or night so far.")
            f.object(
                "floor", floor, blank: NoiseFloor.Values(),
                "The sensor's noise in these quantities, as measured in quiet; left out until it is known."
            ) { $0.fields(&$1) }
            f.flag(
                "below_floor", isBelowFloor,
                "Whether `ppv` is below three times its floor, so that it says nothing but quiet.")
        }
    }

    /// The limit that the interval is compared with.
    public struct Limit: Sendable, Equatable {
        public var name: String
        public var share: VibrationLimit.Share

        public init(name: String, share: VibrationLimit.Share) { (self.name, self.share) = (name, share) }

        /// `x`, `y`, `z`, or `vector`.
        public var axis: String { VibrationRecord.axisName(share.axis) }

        package func fields(_ f: inout some FieldVisitor) {
            f.text("name", name, "Table, line and place, such as `din4150-3:dwellings:foundation`.")
            f.text("axis", axis, "The axis that is nearest to its limit: `x`, `y`, `z`, or `vector`.")
            f.number(
                "value", share.value,
                "What is compared: mm/s, or m/s^1.75 of a dose. Of peaks, that of the half cycle whose share is largest, which may be less than `ppv`."
            )
            f.number("limit", share.limit, "The limit at its frequency, in the same unit.")
            f.number("share", share.ratio, unit: "1", "Value divided by limit.")
            f.time("t", share.time, "When the peak was that is compared; left out of a dose or effective value.")
            f.visit(
                Field(
                    "frequency_hz",
                    "Frequency of its half cycle, at which the limit counts; null where it is not known, or no peak is compared.",
                    .nullable, unit: "Hz"), share.frequency)
        }
    }

    /// How an interval stands to the limit, for those who do not need the rest.
    public struct Standing: Sendable, Equatable {
        public var state: State
        public var limit: Limit
        /// Unit of value and limit: `mm/s` or `m/s^1.75`.
        public var unit: String
        /// Begin of the interval, nanoseconds of UTC.
        public var start: Int64

        public init(state: State, limit: Limit, unit: String, start: Int64) {
            (self.state, self.limit, self.unit, self.start) = (state, limit, unit, start)
        }
    }

    /// Hz.
    public var lower = 0.0
    public var upper = 0.0
    /// Nanoseconds of UTC.
    public var start: Int64 = 0
    /// Seconds.
    public var length = 0
    public var seconds = 0.0
    public var gaps = 0
    public var interruptions: VibrationInterval.Interruptions = []
    /// x, y and z.
    public var axes = [Axis(), Axis(), Axis()]
    public var pvs = 0.0
    public var pvsTime: Int64 = 0
    public var halfCycles: [VibrationInterval.HalfCycle] = []
    public var period = Period.day
    /// Seconds of that day or night that were measured so far.
    public var periodSeconds = 0.0
    public var limit: Limit?
    public var state: State?

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.time("start", start, "Begin of the interval; intervals are aligned to UTC.")
        f.integer("interval_s", length, unit: "s", "Its length.")
        f.number("seconds", seconds, unit: "s", "How much of it was measured.")
        f.integer("gaps", gaps, "Gaps in it.")
        f.texts(
            "interrupted", interruptions.isEmpty ? nil : interruptions.names,
            "Why it is not whole, or what is before it or after it: `start` and `stop` of measuring, `gap` of samples, `change` of settings or of the sensor; left out where nothing was."
        )
        f.object("band", self, "The band of velocity, displacement and acceleration.") {
            $1.number("lower_hz", $0.lower, unit: "Hz", "Lower corner.")
            $1.number("upper_hz", $0.upper, unit: "Hz", "Upper corner.")
        }
        f.object("x", axes[0], "Axis x, horizontal.") { $0.fields(&$1) }
        f.object("y", axes[1], "Axis y, horizontal.") { $0.fields(&$1) }
        f.object("z", axes[2], "Axis z, vertical.") { $0.fields(&$1) }
        f.number("pvs", pvs, unit: "mm/s", "Largest vector sum of the three velocities.")
        f.time("pvs_t", pvsTime, "When it was reached.")
        f.visit(
            Field(
                "half_cycles",
                "Half cycles of the velocity that are nearest to the limits of the standards, each at its own frequency, beside the `ppv` of each axis: what is needed to compare the interval with any limit."
            ), halfCycles, blank: { .init(axis: nil, value: 0, time: 0, frequency: nil) }
        ) {
            $1.text("axis", VibrationRecord.axisName($0.axis), "`x`, `y`, `z`, or `vector`.")
            $1.number("value", $0.value, unit: "mm/s", "Its largest velocity.")
            $1.time("t", $0.time, "When that was.")
            $1.visit(
                Field(
                    "frequency_hz",
                    "Its frequency, of `vector` that of the axis that moves most; null where it is not known.",
                    .nullable, unit: "Hz"), $0.frequency)
        }
        f.choice("period", period, "`day` from 7 to 23 h, else `night`, by `vibration.utc_offset_h`.")
        f.number(
            "period_seconds", periodSeconds, unit: "s",
            "How much of that day or night was measured so far, and is in `vdv_period`.")
        f.object(
            "limit", limit, blank: Limit(name: "", share: .init(value: 0, limit: 1, axis: 0)),
            "How the interval stands to `vibration.limit`; left out without one."
        ) { $0.fields(&$1) }
        f.choice(
            "state", state,
            "`warning` from `vibration.warn_share` of the limit on, `exceeded` from the limit on, else `ok`.")
    }
}

extension NoiseFloor.Values {
    package func fields(_ f: inout some FieldVisitor) {
        f.number("ppv", ppv, unit: "mm/s", "Of `ppv`.")
        f.number("rms", rms, unit: "mm/s", "Of `rms`.")
        f.number("kb_fmax", kbFmax, unit: "1", "Of `kb_fmax`.")
        f.number("aw_rms", weightedRMS, unit: "m/s^2", "Of `aw_rms`.")
        f.number("vdv", dose, unit: "m/s^1.75", "Of `vdv`.")
    }
}

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

/// Natural modes of the structure that the sensor stands on (`data/modes`), of one period of its ambient vibration.
public struct ModesMessage: Sendable, Equatable {
    /// Modes that are told: those that stand out most.
    public static let most = 12
    /// Numbers that they may have.
    public static let ids = 1...1_000_000_000

    /// Begin of the period's motion, nanoseconds of UTC.
    public var start: Int64 = 0
    /// Seconds of motion that were looked at.
    public var seconds = 0.0
    /// Segments that were averaged.
    public var segments = 0
    /// Temperature of the sensor's chip, °C; nil: it does not measure it.
    public var temperature: Double?
    /// From the lowest on.
    public var modes: [StructureMode] = []

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.time("start", start, "Begin of the motion that was looked at.")
        f.number("seconds", seconds, unit: "s", "How much of it there was.")
        f.integer("segments", segments, "Spectra that were averaged, which overlap by half.")
        f.number("resolution_hz", ModeAnalysis.resolution, unit: "Hz", "Of the spectra.")
        f.number(
            "temperature_c", temperature, unit: "Cel", "Temperature of the sensor's chip, for chips that measure it.")
        f.visit(
            Field("modes", "Natural modes, from the lowest on; none is no error."), modes,
            blank: { StructureMode(frequency: 0, damping: 0, shape: [0, 0, 0], prominence: 0) }
        ) {
            $1.integer(
                "id", $0.id,
                "Number by which the station knows it again from period to period, by frequency and shape, also after a restart."
            )
            $1.number("frequency_hz", $0.frequency, unit: "Hz", "Natural frequency.")
            $1.number("damping", $0.damping, unit: "1", "Share of critical damping.")
            $1.number("x", $0.shape[0], unit: "1", "Motion along x by that of the strongest axis.")
            $1.number("y", $0.shape[1], unit: "1", "Motion along y, in the same way.")
            $1.number("z", $0.shape[2], unit: "1", "Motion along z, in the same way.")
            $1.number(
                "prominence_db", $0.prominence, unit: "dB",
                "How far the spectrum stands out of its surroundings of 1 Hz there; broad modes do so little.")
            $1.flag(
                "picked", $0.isPicked,
                "Whether the second opinion, peak picking, finds it as well; left out where it is not known, as of stored ones."
            )
        }
    }

    /// Reads a message; nil: it is none.
    public init?(_ message: Value) {
        guard let start = message["start"]?.anyTime,
            let seconds = message["seconds"]?.number, case .array(let all)? = message["modes"], all.count <= Self.most
        else { return nil }
        (self.start, self.seconds) = (start, seconds)
        segments = message["segments"]?.whole ?? 0
        temperature = message["temperature_c"]?.number
        for one in all {
            guard let frequency = one["frequency_hz"]?.number, let damping = one["damping"]?.number else { return nil }
            var mode = StructureMode(
                frequency: frequency, damping: damping,
                shape: VibrationRecord.axisNames.map { one[$0]?.number ?? 0 },
                prominence: one["prominence_db"]?.number ?? 0)
            if let id = one["id"]?.whole, Self.ids.contains(id) { mode.id = id }
            modes.append(mode)
        }
    }
}

/// `data/vibration` of a station of any version, for those who show its numbers (see ``InfoReading``); intervals that are
/// counted on are read as ``VibrationRecord``.
public struct VibrationReading: Sendable {
    public struct Axis: Sendable {
        let tree: Value
        /// mm/s and Hz.
        public var ppv: Double? { tree["ppv"]?.number }
        public var frequency: Double? { tree["frequency_hz"]?.number }
        public var rms: Double? { tree["rms"]?.number }
        public var kbFmax: Double? { tree["kb_fmax"]?.number }
        /// Vibration dose value of the day or night so far, m/s^1.75.
        public var dose: Double? { tree["vdv_period"]?.number }
        public var isBelowFloor: Bool? { tree["below_floor"]?.flag }
    }

    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    /// Seconds of the interval.
    public var interval: Double? { tree["interval_s"]?.number }
    public func axis(_ name: String) -> Axis? { tree[name].map { Axis(tree: $0) } }
    /// Name of the limit that it was compared with, and what the interval was of it.
    public var limit: String? { tree["limit"]?["name"]?.rawText }
    public var share: Double? { tree["limit"]?["share"]?.number }
}
