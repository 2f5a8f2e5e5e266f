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
