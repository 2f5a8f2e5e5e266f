import Seismology
import Values

/// An event at one moment of its life (`event/trigger`; its `end` also as `event/last`).
public struct EventMessage: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable { case onset, update, end }

    /// A detector that was on, with what it saw.
    public struct Detector: Sendable, Equatable {
        public var name: String
        public var signal: String?
        /// Empty for detectors that look at a vector.
        public var axes: AxisSet
        /// Nanoseconds of UTC, as are all times.
        public var on: Int64
        public var value: Double
        public var threshold: Double
        public var maximum: Double
        public var direction: Direction.Axis?
        public var peaks: AxisValues<Double>?
        public var configRevision: Int

        public init(
            name: String, signal: String? = nil, axes: AxisSet = [], on: Int64, value: Double, threshold: Double,
            configRevision: Int
        ) {
            self.name = name
            self.signal = signal
            self.axes = axes
            self.on = on
            self.value = value
            self.threshold = threshold
            maximum = value
            self.configRevision = configRevision
        }
    }

    /// First motion of the ground.
    public struct FirstMotion: Sendable, Equatable {
        public var axis: Direction.Axis
        /// Nanoseconds of UTC.
        public var t: Int64
        public init(axis: Direction.Axis, t: Int64) {
            self.axis = axis
            self.t = t
        }
    }

    /// Where the full-rate samples went, and how to know that they are complete.
    public struct Waveform: Sendable, Equatable {
        public var topic: String
        public var bytes: Int
        public var records: Int
        /// Lower-case hexadecimal.
        public var sha256: String
        public var messages: Int
        public var unitPerCount: Double
    }

    public var kind: Kind
    public var eventID: String
    /// Nanoseconds of UTC.
    public var onset: Int64
    /// Nil before the end.
    public var end: Int64?
    public var detectors: [Detector] = []
    public var peaks = Components(Peak())
    public var pga: Double = 0
    public var pgaPercentG: Double = 0
    public var pgv: Double = 0
    public var peakVelocity = Components(0.0)
    public var pgd: Double = 0
    public var cav: Double = 0
    public var standardizedCAV: Double = 0
    public var arias: Double = 0
    public var duration: Double = 0
    public var responseSpectrum: ResponseSpectrumColumns?
    public var duration75: Double?
    public var duration95: Double?
    public var intensity: [IntensityValue] = []
    /// Ratios of each detector that has some.
    public var ratios: [DetectorRatios] = []
    public var rmsMax = AxisValues(0.0)
    public var rsam = AxisValues(0.0)
    public var dominantHz: Double?
    public var direction: Direction?
    public var firstMotion: FirstMotion?
    /// Nanoseconds of UTC, and seconds; nil where there is too little before the onset.
    public var arrivalTime: Int64?
    public var arrivalSigma: Double?
    /// Nil where it is not judged.
    public var eventClass: EventClass?
    /// Nil until there is one that stands out of the noise.
    public var onsite: OnsiteMessage?
    public var alarm = false
    /// Nil before the end, and where it is not judged.
    public var classFeatures: [[Double]]?
    public var clipped = false
    public var gaps = 0
    /// Seconds.
    public var missing = 0.0
    /// False where the peak acceleration may be off by more than 2 %.
    public var accelerationValid = true
    /// False where the ground may have moved faster, or further, than is told.
    public var velocityValid = true
    public var displacementValid = true
    public var configRevision = 0
    /// Nil before the end.
    public var waveform: Waveform?
    /// Made by a command, not by the ground.
    public var test = false
    /// Nil where no network of stations has said anything of it.
    public var confirmation: EventConfirmation?

    public init(kind: Kind, eventID: String, onset: Int64) {
        self.kind = kind
        self.eventID = eventID
        self.onset = onset
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.choice("event_type", kind, "Beginning, change or end of an event.")
        f.text("event_id", eventID, "The same in all messages of an event: station's id and onset.")
        f.time("onset", onset, "When the event began.")
        f.time("end", end, "When it ended; in `end` only.")
        f.objects(
            "detectors", detectors, blank: Detector(name: "", on: 0, value: 0, threshold: 0, configRevision: 0),
            "The detectors that have triggered, with what they saw."
        ) { $0.fields(&$1) }
        f.object("peaks", peaks, "Largest accelerations and their times.") { peaks, f in
            peaks.fields(&f) { $0.fields(&$1) }
        }
        f.number("pga", pga, unit: "m/s^2", "Peak ground acceleration of the horizontals, see `intensity.horizontal`.")
        f.number("pga_pct_g", pgaPercentG, unit: "%", "The same in percent of standard gravity.")
        f.number("pgv", pgv, unit: "m/s", "Peak ground velocity of the horizontals.")
        f.object("peak_velocity", peakVelocity, "Largest ground velocity of each axis and of the vectors.") {
            $0.velocityFields(&$1)
        }
        f.number("pgd", pgd, unit: "m", "Peak ground displacement of the horizontals.")
        f.number("cav", cav, unit: "m/s", "Cumulative absolute velocity, ∫│a│ dt of the stronger horizontal.")
        f.number("cav_std", standardizedCAV, unit: "m/s", "The same of those seconds only whose peak exceeds 0.025 g.")
        f.number("arias", arias, unit: "m/s", "Arias intensity, π/(2g) ∫a² dt of the stronger horizontal.")
        f.number("duration_s", duration, unit: "s", "From the onset to the last sample so far, or to the end.")
        f.object(
            "response_spectrum", responseSpectrum, blank: ResponseSpectrumColumns(),
            "Pseudo-spectral acceleration of the horizontals, 5 % damped; in `end` only."
        ) { $0.fields(&$1) }
        f.number("d5_75_s", duration75, unit: "s", "Significant duration, from 5 to 75 % of ∫a² dt; in `end` only.")
        f.number("d5_95_s", duration95, unit: "s", "Significant duration, from 5 to 95 % of ∫a² dt; in `end` only.")
        f.intensities(intensity)
        for one in ratios {
            f.visit(
                Field(
                    "<detector>_max",
                    "Largest ratio of each signal since the onset, of a detector that compares ratios.", .optional),
                named: one.name + "_max", one.values
            ) { $0.fields(&$1) }
        }
        f.object("rms_max", rmsMax, "Largest root mean square of each axis.") { $0.fields(&$1) }
        f.object("rsam", rsam, "Mean absolute acceleration of each axis.") { $0.fields(&$1) }
        f.number("dominant_hz", dominantHz, unit: "Hz", "Strongest frequency; left out while not known.")
        f.object(
            "direction", direction, blank: Direction(azimuthDeg: 0, axis: .plusX),
            "Where the first two seconds of the event pointed; left out while not known."
        ) { $0.fields(&$1) }
        f.object(
            "first_motion", firstMotion, blank: FirstMotion(axis: .plusX, t: 0),
            "First motion of the ground; left out where it does not stand out of the noise."
        ) { $0.fields(&$1) }
        f.time(
            "p_time", arrivalTime,
            "When the first wave arrived, from the samples so far, by Akaike's criterion; left out while not known.")
        f.number("p_sigma_s", arrivalSigma, unit: "s", "Standard deviation of `p_time`.")
        f.object("class", eventClass, blank: EventClass(), "What it probably is; left out where that is not judged.") {
            $0.fields(&$1)
        }
        f.object(
            "onsite", onsite, .nullable, blank: OnsiteMessage(time: 1, mmi: 0, pgv: 0),
            "What the first seconds say of the shaking to come; null before and where they do not stand out of the noise."
        ) { $0.fields(&$1) }
        f.flag("alarm", alarm ? true : nil, "True from the alarm on; left out before.")
        f.visit(
            any: Field(
                "class_features",
                "What the class was judged by at the published times: of each the seconds and sixteen features; in `end` only.",
                .optional),
            classFeatures.map { .array($0.map { .array($0.map { .double($0) }) }) })
        f.flag("clipped", clipped, "Whether a sample reached the sensor's full scale.")
        f.integer(
            "gaps", gaps > 0 ? gaps : nil, "Gaps between the first sample and the end; left out when there is none.")
        f.number(
            "missing_s", gaps > 0 ? missing : nil, unit: "s",
            "How much is missing in these gaps; left out when there is none.")
        f.flag(
            "acceleration_valid", accelerationValid ? nil : false,
            "False where a start or a gap leaves open by more than 2 % how large the acceleration was; left out otherwise."
        )
        f.flag(
            "velocity_valid", velocityValid ? nil : false,
            "False where a start or a gap leaves open whether the velocity, and the intensity from it, was larger; left out otherwise."
        )
        f.flag(
            "displacement_valid", displacementValid ? nil : false,
            "False where it leaves open whether the displacement was larger; left out otherwise.")
        f.integer("config_rev", configRevision, "Revision of the settings at the last sample.")
        f.object(
            "waveform", waveform,
            blank: Waveform(topic: "", bytes: 0, records: 0, sha256: "", messages: 0, unitPerCount: 0),
            "The samples of the event at full rate; in `end` only."
        ) { $0.fields(&$1) }
        f.flag("test", test ? true : nil, "True for an event made by the command `test-event`; left out for others.")
        f.flag(
            "confirmed", confirmation?.isConfirmed,
            "True when neighbours have seen the same earthquake, false when that was taken back; left out before.")
        f.text("network_event", confirmation?.networkEvent, "The network event that has it; with `confirmed`.")
        // (Written by the next run, over the newest message that was kept.)
        f.flag(
            "interrupted", nil as Bool?,
            "True for the end of an event during which the agent ended; left out for others.")
    }
}

extension EventMessage.Detector {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("name", name, "Name of the detector, as in the settings.")
        f.text(
            "signal", signal,
            "The signal it looked at: `each`, `x`, `y`, `z`, `h` or `v3`; for detectors with a choice.")
        f.texts("axes", axes.isEmpty ? nil : axes.names, "The axes it triggered on; left out for a vector.")
        f.time("on", on, "When it triggered.")
        f.number("value", value, "The value that triggered it, in its own unit (m/s², or a ratio).")
        f.number("threshold", threshold, "The threshold, in the same unit.")
        f.number("max", maximum, "Largest value while it was on, in the same unit.")
        f.choice("direction", direction, "Direction of a movement; of the detector `movement`.")
        f.object(
            "peaks", peaks, blank: AxisValues(0.0),
            "Largest acceleration of each axis, with its sign; of the detector `movement`."
        ) { $0.fields(&$1) }
        f.integer("config_rev", configRevision, "Revision of the settings that it ran with.")
    }
}

extension EventMessage.FirstMotion {
    package func fields(_ f: inout some FieldVisitor) {
        f.choice("axis", axis, "Axis and sign.")
        f.time("t", t, "When it was.")
    }
}

extension EventMessage.Waveform {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("topic", topic, "Topic of its messages.")
        f.integer("bytes", bytes, unit: "B", "Bytes of all its messages together.")
        f.integer("records", records, "miniSEED records in them.")
        f.text("sha256", sha256, "Digest of all bytes in the order of publication.")
        f.integer("messages", messages, "Messages that it came in.")
        f.number(
            "unit_per_count", unitPerCount as Double?, unit: "m/s^2",
            "What one count is; left out of an interrupted event.")
    }
}

/// A response spectrum, column by column.
public struct ResponseSpectrumColumns: Sendable, Equatable {
    /// Seconds.
    public var periods: [Double] = []
    /// m/s².
    public var x: [Double] = []
    public var y: [Double] = []
    public var mean: [Double] = []

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.visit(Field("period_s", "Periods of the oscillators.", unit: "s"), periods[...])
        f.visit(Field("x", "Of axis x.", unit: "m/s^2"), x[...])
        f.visit(Field("y", "Of axis y.", unit: "m/s^2"), y[...])
        f.visit(Field("geometric_mean", "Of the two: the square root of their product.", unit: "m/s^2"), mean[...])
    }
}

/// The on-site estimate of an event, in SI units.
public struct OnsiteMessage: Sendable, Equatable {
    /// Seconds after the onset.
    public var time: Int
    /// Largest velocity and displacement of the vertical; nil where they do not stand out of the noise.
    public var pv: Double?
    public var pd: Double?
    public var tauC: Double?
    /// Predicted.
    public var mmi: Double
    public var pgv: Double
    /// Within which 80 % of the true values are.
    var pgvLow: Double
    var pgvHigh: Double
    public var saturated = false
    public var level: Int?

    init(time: Int, mmi: Double, pgv: Double) {
        (self.time, self.mmi, self.pgv, pgvLow, pgvHigh) = (time, mmi, pgv, pgv, pgv)
    }

    /// - Parameter soFar: largest horizontal velocity until now, m/s: less is not predicted.
    /// - Returns: nil where nothing stands out of the noise.
    public init?(_ estimate: OnsiteEstimate, soFar: Double) {
        guard let predicted = estimate.pgv else { return nil }
        let pgv = max(predicted, soFar)
        self.init(time: estimate.time, mmi: Worden2012.mmi(pgv: pgv), pgv: pgv)
        let range = estimate.range(around: pgv)
        (pgvLow, pgvHigh) = (max(soFar, range.low), range.high)
        saturated = estimate.isSaturated
        pv = estimate.pvIsValid ? estimate.pv : nil
        if estimate.pdIsValid { (pd, tauC, level) = (estimate.pd, estimate.tauC, estimate.level) }
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.integer("t_s", time, unit: "s", "Seconds after the onset that it is made of: 1, 2, 3, 5 or 8.")
        f.visit(
            Field(
                "pv", "Largest vertical velocity (from 0.4 Hz); null where it does not stand out of the noise.",
                .nullable,
                unit: "m/s"), pv)
        f.visit(
            Field(
                "pd", "Largest vertical displacement (from 0.075 Hz); null where it does not stand out of the noise.",
                .nullable, unit: "m"), pd)
        f.visit(
            Field("tau_c", "Characteristic period; null where `pd` is.", .nullable, unit: "s"), tauC)
        f.number("pgv_predicted", pgv, unit: "m/s", "Predicted peak ground velocity, at least that so far.")
        f.number("mmi_predicted", mmi, unit: "1", "Predicted intensity, `worden12` of it.")
        f.number("pgv_low", pgvLow, unit: "m/s", "The peak ground velocity is not below this, nine times of ten.")
        f.number("pgv_high", pgvHigh, unit: "m/s", "The peak ground velocity is not above this, nine times of ten.")
        f.flag("saturated", saturated, "Whether the rupture goes on, so that the first seconds do not know its size.")
        f.visit(
            Field(
                "level",
                "Of the first 3 s: 3 near and large, 2 far and large, 1 near and small, 0 (Zollo and others, 2010); null where `pd` is.",
                .nullable, unit: "1"), level)
    }
}

extension EventClass {
    package func fields(_ f: inout some FieldVisitor) {
        f.choice(
            "likely", likely,
            "What it is taken for at the last judgings, so that it may change back; one station cannot be sure.")
        f.number(
            "p", probability, unit: "1", "Probability of an earthquake at the last judging; left out before the first.")
        f.number("t_s", time, unit: "s", "When that was, seconds of samples after the onset.")
        f.flag("certain", isCertain, "Whether it is taken for an earthquake with a probability of 0.8 or more.")
        f.flag("moved", moved, "Whether the sensor was turned or carried.")
        f.flag("final", isFinal, "Whether it is judged no more, unless another trigger begins in the same event.")
    }
}

/// A message of a station's event as all programs read it (``EventMessage`` is what the station writes). All of it comes from
/// outside: a member of another type counts as missing, unless it says otherwise here.
public struct StationEventReading: Sendable {
    /// An intensity of one relation.
    public struct Intensity: Sendable {
        public var scale: String?
        public var value: Double?
        /// The value for decisions: where it needs a velocity that is not valid, that from the acceleration alone.
        public var certain: Double?
        /// Whether all that enters the value is valid.
        var isCertain: Bool
    }

    /// Station that the message names; empty where that is no text.
    public var station: String?
    public var kind: EventMessage.Kind?
    public var eventID: String
    /// Nanoseconds of UTC, as are all times.
    public var onset: Int64
    /// Time of the newest sample; it, the end and the arrival are of any year, so that differences may overflow.
    public var newest: Int64?
    public var end: Int64?
    /// Seconds.
    public var duration: Double?
    /// Milliseconds that the station's clock may be off.
    public var clockError: Double?
    public var arrival: Int64?
    /// Seconds.
    public var arrivalSigma: Double?
    /// m/s²; not a number where the message has something else.
    public var pga: Double?
    public var mmi: Double?
    public var intensities: [Intensity] = []
    /// Class that the station gives the event, in its own word.
    public var likely: String?
    /// Probability of an earthquake.
    public var probability: Double?
    public var isClassCertain = false
    public var isClassFinal = false
    /// False where a start or a gap of the samples leaves open how strong the shaking was.
    public var isVelocityValid = true
    /// False where they leave PGA open by more than 2 %.
    public var isAccelerationValid = true
    public var hasAlarm = false
    /// Made by a command, not by the ground.
    public var isTest = false

    /// Nil: it is no message of an event, which has an id and an onset.
    public init?(_ message: Value) {
        let told = StationEventMembers(message)
        guard let id = told.id, let onset = told.onset, Timestamp.sensible.contains(onset) else { return nil }
        (eventID, self.onset) = (id, onset)
        (station, kind) = (told.station, told.kind)
        (newest, end, duration) = (told.time, told.end, told.duration)
        (clockError, arrival, arrivalSigma) = (told.clock?.error, told.arrival, told.arrivalSigma)
        (pga, mmi) = (told.hasPGA ? told.pga ?? .nan : nil, told.mmi)
        (isVelocityValid, isAccelerationValid) = (told.isVelocityValid, told.isAccelerationValid)
        intensities = told.intensities.map { one in
            let isUsable = told.isVelocityValid || !one.basis.velocity
            return Intensity(
                scale: one.scale, value: one.value, certain: isUsable ? one.value : one.fromPGA,
                isCertain: told.isCertain(one))
        }
        likely = told.likely
        probability = told.probability.flatMap { (0...1).contains($0) ? $0 : nil }
        (isClassCertain, isClassFinal) = (told.isClassCertain, told.isClassFinal)
        (hasAlarm, isTest) = (told.hasAlarm, told.isTest)
    }

    /// The first relation of the Mercalli scale, whose intensity ``mmi`` is.
    private var mercalli: Intensity? { intensities.first { $0.scale == "mmi" } }

    /// Whether what enters ``mmi`` is valid.
    public var isMercalliCertain: Bool { mercalli?.isCertain ?? (isVelocityValid && isAccelerationValid) }

    /// Mercalli intensity on which decisions may rest; nil where there is none.
    public var certainMercalli: Double? { isVelocityValid ? mmi ?? mercalli?.certain : mercalli?.certain }
}

/// All members of a station's event that others read, whatever is missing (see ``InfoReading``): displays show as much of a
/// message as it has, of any version.
public struct StationEventMembers: Sendable {
    /// A detector that has triggered.
    public struct Detector: Sendable {
        let tree: Value
        public var name: String? { tree["name"]?.rawText }
        public var axes: [String] { tree["axes"]?.rawTexts ?? [] }
    }

    /// The shaking to come.
    public struct Onsite: Sendable {
        let tree: Value
        /// Peak ground velocity and its range, m/s.
        public var pgv: Double? { tree["pgv_predicted"]?.number }
        public var low: Double? { tree["pgv_low"]?.number }
        public var high: Double? { tree["pgv_high"]?.number }
        public var isSaturated: Bool { tree["saturated"]?.flag == true }
    }

    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    public var id: String? { tree["event_id"]?.rawText }
    /// Station that it names; empty where that is no text.
    public var station: String? { tree["station"].map { $0.rawText ?? "" } }
    public var kind: EventMessage.Kind? { kindWord.flatMap { .init(rawValue: $0) } }
    /// The kind in the sender's word.
    public var kindWord: String? { tree["event_type"]?.rawText }
    /// Nanoseconds of UTC, of any year: of the newest sample, the onset and the end.
    public var time: Int64? { tree["t"]?.anyTime }
    public var onset: Int64? { tree["onset"]?.anyTime }
    public var end: Int64? { tree["end"]?.anyTime }
    /// The same as they were sent.
    public var timeText: String? { tree["t"]?.rawText }
    public var onsetText: String? { tree["onset"]?.rawText }
    public var endText: String? { tree["end"]?.rawText }
    /// Seconds.
    public var duration: Double? { tree["duration_s"]?.number }
    public var clock: ClockReading? { tree["tq"].map { .init($0) } }
    public var arrival: Int64? { tree["p_time"]?.anyTime }
    public var arrivalSigma: Double? { tree["p_sigma_s"]?.number }
    public var detectors: [Detector] { (tree["detectors"]?.list ?? []).map { Detector(tree: $0) } }

    var hasPGA: Bool { tree["pga"] != nil }
    public var pga: Double? { tree["pga"]?.number }
    public var pgv: Double? { tree["pgv"]?.number }
    public var mmi: Double? { tree["mmi"]?.number }
    public var jma: Double? { tree["jma"]?.number }
    public var dominant: Double? { tree["dominant_hz"]?.number }
    public var intensities: [IntensityReading] { IntensityReading.all(tree) }

    public var likely: String? { tree["class"]?["likely"]?.rawText }
    /// Probability of an earthquake, in any range.
    public var probability: Double? { tree["class"]?["p"]?.number }
    /// Seconds after the onset at which it was judged.
    public var judged: Double? { tree["class"]?["t_s"]?.number }
    public var isClassCertain: Bool { tree["class"]?["certain"]?.flag == true }
    public var isClassFinal: Bool { tree["class"]?["final"]?.flag == true }
    /// The sensor was turned or carried.
    public var isMoved: Bool { tree["class"]?["moved"]?.flag == true }
    public var onsite: Onsite? { tree["onsite"].map { Onsite(tree: $0) } }
    public var hasAlarm: Bool { tree["alarm"]?.flag == true }

    /// False where a start or a gap leaves open what the velocity, and the intensity from it, was of the whole event.
    public var isVelocityValid: Bool { tree["velocity_valid"]?.flag != false }
    /// Whether the peak acceleration is right within 2 %.
    public var isAccelerationValid: Bool { tree["acceleration_valid"]?.flag != false }
    /// Whether an intensity stands for the whole event: what enters it is valid.
    public func isCertain(_ one: IntensityReading) -> Bool {
        (!one.basis.acceleration || isAccelerationValid) && (!one.basis.velocity || isVelocityValid)
    }

    public var isClipped: Bool { tree["clipped"]?.flag == true }
    /// Records of its waveform.
    public var records: Int? { tree["waveform"]?["records"]?.whole }
    public var isTest: Bool { tree["test"]?.flag == true }
    /// A network of stations has seen it as well.
    public var isConfirmed: Bool { tree["confirmed"]?.flag == true }
    /// The label that somebody gave it.
    public var label: String? { tree["label"]?.rawText }
}

/// An object of `intensity` in messages of any version.
public struct IntensityReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    static func all(_ message: Value) -> [Self] { (message["intensity"]?.list ?? []).map { .init($0) } }

    public var scale: String? { tree["scale"]?.rawText }
    public var relation: String? { tree["relation"]?.rawText }
    public var value: Double? { tree["value"]?.number }
    public var roman: String? { tree["roman"]?.rawText }
    public var grade: String? { tree["grade"]?.rawText }
    public var fromPGA: Double? { tree["from_pga"]?.number }
    /// Seconds that it is of.
    public var window: Double? { tree["window_s"]?.number }

    /// The peaks from which its relation is computed.
    var basis: (acceleration: Bool, velocity: Bool) {
        let isJapan = scale == "jma" || relation == "jma"
        if isJapan || relation == "gutenberg_richter" { return (true, false) }
        return (relation == "wald99" || relation == "cwa", true)
    }
}

/// The rule for ids of events: a station's begins with the station's id and `-`, a network's with `net-`.
public enum EventID {
    /// 1 to 128 letters A-Z and a-z, digits, `_` and `-`.
    public static func isValid(_ text: String) -> Bool { text.isMade(1...128) { $0.isOfID } }

    public static func isOfNetwork(_ text: String) -> Bool {
        (5...64).contains(text.utf8.count) && text.utf8.starts(with: "net-".utf8) && isValid(text)
    }

    /// - Parameter station: its id.
    public static func isOf(station: String, _ text: String?) -> Bool {
        guard let text, isValid(text), text.utf8.starts(with: station.utf8) else { return false }
        return text.utf8.dropFirst(station.utf8.count).first == UInt8(ascii: "-")
    }
}

/// A network's confirmation of a station's event: others have seen the same earthquake, or it was none after all.
public struct EventConfirmation: Sendable, Equatable {
    /// The station's own id of its event.
    public var eventID: String
    public var networkEvent: String
    /// False when the network event turned out to be none, or not to have this event in it.
    public var isConfirmed: Bool

    public init(eventID: String, networkEvent: String, isConfirmed: Bool = true) {
        (self.eventID, self.networkEvent, self.isConfirmed) = (eventID, networkEvent, isConfirmed)
    }
}
