import Seismology
import Values

/// The state of the ground once a second (`state/summary`).
public struct SummaryMessage: Sendable, Equatable {
    /// Level of one component over the window.
    public struct Level: Sendable, Equatable {
        public var rms: Double
        public var peak: Double
        public var rsam: Double
        public var velocity: Double
        public init(rms: Double = 0, peak: Double = 0, rsam: Double = 0, velocity: Double = 0) {
            (self.rms, self.peak, self.rsam, self.velocity) = (rms, peak, rsam, velocity)
        }
    }

    /// Smallest and largest value since a moment.
    public struct Extreme: Sendable, Equatable {
        public var min: Double
        public var max: Double
        /// Nanoseconds of UTC.
        public var since: Int64
        public init(min: Double, max: Double, since: Int64) {
            self.min = min
            self.max = max
            self.since = since
        }
    }

    public struct Extremes: Sendable, Equatable {
        public var x: Extreme
        public var y: Extreme
        public var z: Extreme
        public var magnitude: Extreme
        public init(x: Extreme, y: Extreme, z: Extreme, magnitude: Extreme) {
            (self.x, self.y, self.z, self.magnitude) = (x, y, z, magnitude)
        }

        init(_ all: Extreme) { (x, y, z, magnitude) = (all, all, all, all) }
    }

    public var window: Double = 0
    public var levels = Components(Level())
    public var pga: Double = 0
    public var pgaPercentG: Double = 0
    public var pgv: Double = 0
    public var pgd: Double = 0
    public var intensity: [IntensityValue] = []
    public var magnitude: Double = 0
    public var direction: Direction?
    public var spectrum: SpectrumPeak?
    /// Ratios of each detector that has some.
    public var ratios: [DetectorRatios] = []
    public var triggered = false
    public var detectors: [String] = []
    /// Class of the open event; nil without one.
    public var eventClass: EventClass?
    public var extremes: Extremes?
    public var valid = true
    /// Nil when valid.
    public var reason: String?
    /// True from an alarm on to the end of its event.
    public var alarm = false

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.number("window_s", window, unit: "s", "Length of the window that levels, peaks and intensity are taken over.")
        levels.fields(&f) { $0.fields(&$1) }
        f.number("pga", pga, unit: "m/s^2", "Peak ground acceleration of the horizontals, see `intensity.horizontal`.")
        f.number("pga_pct_g", pgaPercentG, unit: "%", "The same in percent of standard gravity.")
        f.number("pgv", pgv, unit: "m/s", "Peak ground velocity of the horizontals.")
        f.number("pgd", pgd, unit: "m", "Peak ground displacement of the horizontals.")
        f.intensities(intensity)
        f.number("magnitude", magnitude, unit: "m/s^2", "Magnitude of the raw acceleration, gravity included.")
        f.object(
            "direction", direction, blank: Direction(azimuthDeg: 0, axis: .plusX),
            "Where the motion of the window pointed; left out while there has been none."
        ) { $0.fields(&$1) }
        f.object(
            "spectrum", spectrum, blank: SpectrumPeak(dominantHz: 0, peak: 0),
            "Strongest frequency of the window; left out while not known."
        ) { $0.fields(&$1) }
        for one in ratios {
            f.visit(
                Field(
                    "<detector>",
                    "Largest ratio of each signal in the last second, of a detector that compares ratios.", .optional),
                named: one.name, one.values
            ) { $0.fields(&$1) }
        }
        f.flag("triggered", triggered, "Whether the station is triggered.")
        f.texts("detectors", detectors, "Names of the detectors that are on.")
        f.object("class", eventClass, blank: EventClass(), "What the open event probably is; left out without one.") {
            $0.fields(&$1)
        }
        f.flag("alarm", alarm ? true : nil, "True from the alarm of the open event on; left out otherwise.")
        f.object(
            "extremes", extremes,
            blank: Extremes(Extreme(min: 0, max: 0, since: 0)),
            "Smallest and largest raw acceleration since the start, or since they were reset."
        ) { $0.fields(&$1) }
        f.flag(
            "valid", valid,
            "False while the filters settle after a start, a gap or a change, and while the sensor has a fault.")
        f.text(
            "reason", reason,
            "Why not, when not valid: `settling`, `gap`, `spike`, `clipped`, `stuck` or `implausible`.")
    }

    /// Fields of `state/level`.
    /// - Parameter synced: whether the clock follows its source.
    package func levelFields(synced: Bool, _ f: inout some FieldVisitor) {
        f.number("pga", pga, unit: "m/s^2", "Peak ground acceleration, as in the summary.")
        f.flatIntensities(intensity)
        f.flag("triggered", triggered, "Whether the station is triggered.")
        f.choice("likely", eventClass?.likely, "What the open event is taken for; left out without one.")
        f.flag("valid", valid, "As in the summary.")
        f.flag("synced", synced, "Whether the clock follows its source.")
    }
}

extension SummaryMessage.Level {
    package func fields(_ f: inout some FieldVisitor) {
        f.number("rms", rms, unit: "m/s^2", "Root mean square.")
        f.number("peak", peak, unit: "m/s^2", "Largest absolute acceleration.")
        f.number("rsam", rsam, unit: "m/s^2", "Mean absolute acceleration.")
        f.number("velocity", velocity, unit: "m/s", "Largest absolute ground velocity.")
    }
}

extension SummaryMessage.Extremes {
    package func fields(_ f: inout some FieldVisitor) {
        f.object("x", x, "Axis x.") { $0.fields(&$1) }
        f.object("y", y, "Axis y.") { $0.fields(&$1) }
        f.object("z", z, "Axis z.") { $0.fields(&$1) }
        f.object("magnitude", magnitude, "Magnitude.") { $0.fields(&$1) }
    }
}

extension SummaryMessage.Extreme {
    package func fields(_ f: inout some FieldVisitor) {
        f.number("min", min, unit: "m/s^2", "Smallest value.")
        f.number("max", max, unit: "m/s^2", "Largest value.")
        f.time("since", since, "Since when.")
    }
}

// MARK: As others read it

/// `state/summary` of a station of any version (see ``InfoReading``).
public struct SummaryReading: Sendable {
    public struct Level: Sendable {
        let tree: Value
        public var rms: Double? { tree["rms"]?.number }
        public var peak: Double? { tree["peak"]?.number }
    }

    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    /// Time as it was sent.
    public var time: String? { tree["t"]?.rawText }
    public var clock: ClockReading? { tree["tq"].map { .init($0) } }
    /// The level of `x`, `y`, `z` or a vector.
    public func level(_ component: String) -> Level? { tree[component].map { Level(tree: $0) } }
    /// Seconds of the window.
    public var window: Double? { tree["window_s"]?.number }
    public var pga: Double? { tree["pga"]?.number }
    public var pgaPercentG: Double? { tree["pga_pct_g"]?.number }
    public var pgv: Double? { tree["pgv"]?.number }
    public var intensities: [IntensityReading] { IntensityReading.all(tree) }
    /// Ratios of the detector STA/LTA by signal.
    public var ratios: [(signal: String, ratio: Double?)] {
        guard case .object(let members)? = tree["sta_lta"] else { return [] }
        return members.map { ($0.key, $0.value.number) }
    }
    public var isTriggered: Bool { tree["triggered"]?.flag == true }
    public var detectors: [String] { tree["detectors"]?.rawTexts ?? [] }
    public var isValid: Bool { tree["valid"]?.flag != false }
    /// Why not, when not valid.
    public var reason: String? { tree["reason"]?.rawText }
}

/// `state/level` of a station of any version.
public struct LevelReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    public var pga: Double? { tree["pga"]?.number }
    public var mmi: Double? { tree["mmi"]?.number }
    public var jma: Double? { tree["jma"]?.number }
    public var isTriggered: Bool? { tree["triggered"]?.flag }
    public var isSynced: Bool? { tree["synced"]?.flag }
    public var isValid: Bool { tree["valid"]?.flag == true }
}
