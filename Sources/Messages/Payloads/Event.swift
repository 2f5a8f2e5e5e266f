/// What an event is at one moment of its life (`event/trigger`; its `end` also as `event/last`).
public struct EventMessage: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable { case onset, update, end }

    /// A detector that was on, with what it saw.
    public struct Detector: Sendable, Equatable {
        /// Of a detector of the settings, such as `level`.
        public var name: String
        /// `each`, `x`, `y`, `z`, `h` or `v3`, where the detector has a choice.
        public var signal: String?
        /// The axes it was on for; empty, and left out, for detectors that look at a vector.
        public var axes: AxisSet
        /// When it went on, nanoseconds of UTC.
        public var on: Int64
        /// The value that fulfilled the rule and the threshold, in the detector's unit (m/s², or none for a
        /// ratio), and the largest value while it was on.
        public var value: Double
        public var threshold: Double
        public var maximum: Double
        /// Direction of a movement, and its largest acceleration on each axis with its sign, m/s²; nil, and left out,
        /// for other detectors.
        public var direction: Direction.Axis?
        public var peaks: AxisValues<Double>?
        /// Revision of the settings it ran with.
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
        /// All messages of the event together.
        public var bytes: Int
        public var records: Int
        /// Of all bytes in the order of publication, lower-case hexadecimal.
        public var sha256: String
        /// Messages they came in.
        public var messages: Int
        /// m/s² of one count.
        public var unitPerCount: Double

        public init(
            topic: String, bytes: Int, records: Int, sha256: String, messages: Int, unitPerCount: Double
        ) {
            self.topic = topic
            self.bytes = bytes
            self.records = records
            self.sha256 = sha256
            self.messages = messages
            self.unitPerCount = unitPerCount
        }
    }

    public var kind: Kind
    /// The same in all messages of an event.
    public var eventID: String
    /// Nanoseconds of UTC.
    public var onset: Int64
    /// Nil, and left out, before the end.
    public var end: Int64?
    public var detectors: [Detector] = []
    public var peaks = Components(Peak())
    /// m/s², percent of standard gravity, m/s.
    public var pga: Double = 0
    public var pgaPercentG: Double = 0
    public var pgv: Double = 0
    /// m.
    public var pgd: Double = 0
    /// Cumulative absolute velocity, m/s, and that of the seconds that peak above 0.025 g alone.
    public var cav: Double = 0
    public var standardizedCAV: Double = 0
    /// Arias intensity, m/s.
    public var arias: Double = 0
    /// Onset to the last sample so far, or to the end.
    public var duration: Double = 0
    /// Significant durations, 5 to 75 % and 5 to 95 % of ∫a² dt, seconds; in `end` only.
    public var duration75: Double?
    public var duration95: Double?
    public var intensity: [IntensityValue] = []
    /// Largest ratios since the onset, of each detector that has some.
    public var ratios: [DetectorRatios] = []
    /// Largest RMS of each axis, m/s².
    public var rmsMax = AxisValues(0.0)
    /// Mean absolute value of each axis, m/s².
    public var rsam = AxisValues(0.0)
    public var dominantHz: Double?
    public var direction: Direction?
    public var firstMotion: FirstMotion?
    /// True when a sample reached the sensor's full scale.
    public var clipped = false
    /// Gaps between the first and the last sample; written only where there are any.
    public var gaps = 0
    public var configRevision = 0
    /// In `end` only.
    public var waveform: Waveform?
    /// Made by a command, not by the ground; written only when true.
    public var test = false

    public init(kind: Kind, eventID: String, onset: Int64) {
        self.kind = kind
        self.eventID = eventID
        self.onset = onset
    }

    func write(to json: inout JSONWriter) {
        json.key("event_type")
        json.string(kind.rawValue)
        json.key("event_id")
        json.string(eventID)
        json.key("onset")
        json.time(onset)
        if let end {
            json.key("end")
            json.time(end)
        }
        json.key("detectors")
        json.beginArray()
        for detector in detectors { detector.write(to: &json) }
        json.endArray()
        writePeaks(to: &json)
        json.key("pga")
        json.double(pga)
        json.key("pga_pct_g")
        json.double(pgaPercentG)
        json.key("pgv")
        json.double(pgv)
        json.key("pgd")
        json.double(pgd)
        json.key("cav")
        json.double(cav)
        json.key("cav_std")
        json.double(standardizedCAV)
        json.key("arias")
        json.double(arias)
        json.key("duration_s")
        json.double(duration)
        json.optional("d5_75_s", duration75)
        json.optional("d5_95_s", duration95)
        IntensityValue.write(intensity, to: &json)
        for one in ratios {
            json.key(text: one.name + "_max")
            one.values.write(to: &json)
        }
        json.axes("rms_max", rmsMax)
        json.axes("rsam", rsam)
        json.optional("dominant_hz", dominantHz)
        if let direction {
            json.key("direction")
            direction.write(to: &json)
        }
        if let firstMotion {
            json.key("first_motion")
            json.beginObject()
            json.key("axis")
            json.string(firstMotion.axis.rawValue)
            json.key("t")
            json.time(firstMotion.t)
            json.endObject()
        }
        json.key("clipped")
        json.bool(clipped)
        if gaps > 0 {
            json.key("gaps")
            json.int(gaps)
        }
        json.key("config_rev")
        json.int(configRevision)
        waveform?.write(to: &json)
        if test {
            json.key("test")
            json.bool(true)
        }
    }

    private func writePeaks(to json: inout JSONWriter) {
        json.key("peaks")
        json.beginObject()
        json.key("x")
        peaks.x.write(to: &json)
        json.key("y")
        peaks.y.write(to: &json)
        json.key("z")
        peaks.z.write(to: &json)
        json.key("h")
        peaks.h.write(to: &json)
        json.key("v3")
        peaks.v3.write(to: &json)
        json.endObject()
    }
}

extension EventMessage.Detector {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("name")
        json.string(name)
        json.optional("signal", signal)
        if !axes.isEmpty {
            json.key("axes")
            axes.write(to: &json)
        }
        json.key("on")
        json.time(on)
        json.key("value")
        json.double(value)
        json.key("threshold")
        json.double(threshold)
        json.key("max")
        json.double(maximum)
        json.optional("direction", direction?.rawValue)
        if let peaks {
            json.key("peaks")
            json.beginObject()
            json.optional("x", peaks.x)
            json.optional("y", peaks.y)
            json.optional("z", peaks.z)
            json.endObject()
        }
        json.key("config_rev")
        json.int(configRevision)
        json.endObject()
    }
}

extension EventMessage.Waveform {
    func write(to json: inout JSONWriter) {
        json.key("waveform")
        json.beginObject()
        json.key("topic")
        json.string(topic)
        json.key("bytes")
        json.int(bytes)
        json.key("records")
        json.int(records)
        json.key("sha256")
        json.string(sha256)
        json.key("messages")
        json.int(messages)
        json.key("unit_per_count")
        json.double(unitPerCount)
        json.endObject()
    }
}
