import Values

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
