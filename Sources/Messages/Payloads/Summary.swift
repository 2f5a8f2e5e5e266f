/// The state of the ground once a second (`state/summary`).
public struct SummaryMessage: Sendable, Equatable {
    /// RMS, peak and mean absolute value of one component over the window, m/s².
    public struct Level: Sendable, Equatable {
        public var rms: Double
        public var peak: Double
        public var rsam: Double
        public init(rms: Double = 0, peak: Double = 0, rsam: Double = 0) {
            self.rms = rms
            self.peak = peak
            self.rsam = rsam
        }
    }

    /// Smallest and largest value since a moment.
    public struct Extreme: Sendable, Equatable {
        /// m/s².
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
    }

    /// Seconds that the peaks are taken over.
    public var window: Double = 0
    public var levels = Components(Level())
    /// m/s².
    public var pga: Double = 0
    /// Percent of standard gravity.
    public var pgaPercentG: Double = 0
    /// m/s.
    public var pgv: Double = 0
    /// m.
    public var pgd: Double = 0
    /// One for each configured scale, in its order.
    public var intensity: [IntensityValue] = []
    /// Of the raw acceleration, gravity included, m/s².
    public var magnitude: Double = 0
    /// Nil, and left out, while there has been no motion.
    public var direction: Direction?
    public var spectrum: SpectrumPeak?
    /// Largest ratios of the last second, of each detector that has some.
    public var ratios: [DetectorRatios] = []
    public var triggered = false
    /// Names of the detectors that are on.
    public var detectors: [String] = []
    public var extremes: Extremes?
    public var valid = true
    /// Why not, when not valid: `settling`, `gap`, `stuck`, `implausible`.
    public var reason: String?

    public init() {}

    func write(to json: inout JSONWriter) {
        json.key("window_s")
        json.double(window)
        json.key("x")
        Self.write(levels.x, to: &json)
        json.key("y")
        Self.write(levels.y, to: &json)
        json.key("z")
        Self.write(levels.z, to: &json)
        json.key("h")
        Self.write(levels.h, to: &json)
        json.key("v3")
        Self.write(levels.v3, to: &json)
        json.key("pga")
        json.double(pga)
        json.key("pga_pct_g")
        json.double(pgaPercentG)
        json.key("pgv")
        json.double(pgv)
        json.key("pgd")
        json.double(pgd)
        IntensityValue.write(intensity, to: &json)
        json.key("magnitude")
        json.double(magnitude)
        if let direction {
            json.key("direction")
            direction.write(to: &json)
        }
        if let spectrum {
            json.key("spectrum")
            json.beginObject()
            json.key("dominant_hz")
            json.double(spectrum.dominantHz)
            json.key("peak")
            json.double(spectrum.peak)
            json.endObject()
        }
        for one in ratios {
            json.key(text: one.name)
            one.values.write(to: &json)
        }
        json.key("triggered")
        json.bool(triggered)
        json.list("detectors", detectors)
        if let extremes { Self.write(extremes, to: &json) }
        json.key("valid")
        json.bool(valid)
        json.optional("reason", reason)
    }

    private static func write(_ level: Level, to json: inout JSONWriter) {
        json.beginObject()
        json.key("rms")
        json.double(level.rms)
        json.key("peak")
        json.double(level.peak)
        json.key("rsam")
        json.double(level.rsam)
        json.endObject()
    }

    private static func write(_ extremes: Extremes, to json: inout JSONWriter) {
        json.key("extremes")
        json.beginObject()
        json.key("x")
        write(extremes.x, to: &json)
        json.key("y")
        write(extremes.y, to: &json)
        json.key("z")
        write(extremes.z, to: &json)
        json.key("magnitude")
        write(extremes.magnitude, to: &json)
        json.endObject()
    }

    private static func write(_ extreme: Extreme, to json: inout JSONWriter) {
        json.beginObject()
        json.key("min")
        json.double(extreme.min)
        json.key("max")
        json.double(extreme.max)
        json.key("since")
        json.time(extreme.since)
        json.endObject()
    }
}
