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
        guard let id = message["event_id"]?.rawText, let onset = message["onset"]?.time else { return nil }
        (eventID, self.onset) = (id, onset)
        station = message["station"].map { $0.rawText ?? "" }
        kind = message["event_type"]?.rawText.flatMap { EventMessage.Kind(rawValue: $0) }
        (newest, end, duration) = (message["t"]?.anyTime, message["end"]?.anyTime, message["duration_s"]?.number)
        clockError = message["tq"]?["error_ms"]?.number
        (arrival, arrivalSigma) = (message["p_time"]?.anyTime, message["p_sigma_s"]?.number)
        pga = message["pga"].map { $0.number ?? .nan }
        mmi = message["mmi"]?.number
        isVelocityValid = CertainIntensity.isVelocityValid(message)
        isAccelerationValid = CertainIntensity.isAccelerationValid(message)
        intensities = (message["intensity"]?.list ?? []).map { [isVelocityValid] one in
            let (value, isUsable) = (one["value"]?.number, isVelocityValid || !CertainIntensity.basis(one).velocity)
            return Intensity(
                scale: one["scale"]?.rawText, value: value, certain: isUsable ? value : one["from_pga"]?.number,
                isCertain: CertainIntensity.isCertain(one, in: message))
        }
        let judged = message["class"]
        likely = judged?["likely"]?.rawText
        probability = judged?["p"]?.number(in: 0...1)
        isClassCertain = judged?["certain"]?.flag == true
        isClassFinal = judged?["final"]?.flag == true
        hasAlarm = message["alarm"]?.flag == true
        isTest = message["test"]?.flag == true
    }

    /// The first relation of the Mercalli scale, whose intensity ``mmi`` is.
    private var mercalli: Intensity? { intensities.first { $0.scale == "mmi" } }

    /// Whether what enters ``mmi`` is valid.
    public var isMercalliCertain: Bool { mercalli?.isCertain ?? (isVelocityValid && isAccelerationValid) }

    /// Mercalli intensity on which decisions may rest; nil where there is none.
    public var certainMercalli: Double? { isVelocityValid ? mmi ?? mercalli?.certain : mercalli?.certain }
}

/// Validity of an event's intensities, as others read it.
public enum CertainIntensity {
    /// Whether the velocity of an event, and the intensity from it, stands for the whole event.
    public static func isVelocityValid(_ event: Value) -> Bool { event["velocity_valid"] != .bool(false) }

    /// Whether the peak acceleration of an event is right within 2 %.
    public static func isAccelerationValid(_ event: Value) -> Bool { event["acceleration_valid"] != .bool(false) }

    /// The peaks from which the relation of an object of `intensity` is computed.
    static func basis(_ item: Value) -> (acceleration: Bool, velocity: Bool) {
        let relation = item["relation"]?.rawText
        let isJapan = item["scale"] == .string("jma") || relation == "jma"
        if isJapan || relation == "gutenberg_richter" { return (true, false) }
        return (relation == "wald99" || relation == "cwa", true)
    }

    /// Whether an object of `intensity` stands for the whole event: what enters it is valid.
    public static func isCertain(_ item: Value, in event: Value) -> Bool {
        let basis = basis(item)
        return (!basis.acceleration || isAccelerationValid(event)) && (!basis.velocity || isVelocityValid(event))
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
