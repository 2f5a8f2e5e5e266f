import SignalProcessing

/// Which stages look at events.
public struct AssessmentSettings: Sendable, Equatable {
    public var classification: Bool
    public var onsite: Bool
    /// The 3-D velocity from which on an earthquake is an alarm, m/s; nil: there is none.
    public var alarm: Double?
    /// Probability of an earthquake from which on it is an alarm.
    public var alarmProbability: Double

    public init(classification: Bool, onsite: Bool, alarm: Double?, alarmProbability: Double = 0.85) {
        (self.classification, self.onsite, self.alarm) = (classification, onsite, alarm)
        self.alarmProbability = alarmProbability
    }
}

/// One station's assessment of an event while it lasts: class, alarm, on-site estimate. Each stage is a value of its
/// own; here they get their samples.
public struct EventAssessment: Sendable {
    public private(set) var discriminator: Discriminator?
    private var motion: RapidMotion?
    private var onsite: OnsiteEstimator?
    private var alarm: MotionAlarm?
    private let settings: AssessmentSettings
    private let rate: Double
    /// Samples taken since the first or since the last gap.
    private var taken = 0
    private var inEvent = false
    /// Seconds over which the noise is taken to be the same.
    private static let longestGap = 600.0
    /// The newest estimate of the event.
    public private(set) var estimate: OnsiteEstimate?
    /// From the alarm on to the end of the event.
    public private(set) var isAlarm = false

    /// - Parameter rate: samples per second; where it is too low for a stage, that one is left out.
    public init(_ settings: AssessmentSettings, rate: Double) {
        (self.settings, self.rate) = (settings, rate)
        if settings.classification { discriminator = Discriminator(rate: rate) }
        if settings.onsite || settings.alarm != nil { motion = try? RapidMotion(rate: rate) }
        if motion != nil, settings.onsite { onsite = OnsiteEstimator(rate: rate) }
        if motion != nil, discriminator != nil { alarm = settings.alarm.map { MotionAlarm(velocity: $0, rate: rate) } }
    }

    /// Goes on from another one of the same rate as far as it has the same stages; with another alarm, that of an open
    /// event is not judged anew.
    public mutating func takeOver(_ old: EventAssessment) {
        guard rate == old.rate else { return }
        if settings == old.settings {
            self = old
            return
        }
        taken = old.taken
        if discriminator != nil, let kept = old.discriminator { discriminator = kept }
        if motion != nil, let kept = old.motion { motion = kept }
        if motion?.count != taken { motion?.reset() }
        (estimate, isAlarm) = (old.estimate, old.isAlarm)
    }

    /// Forgets all samples. What is known of an open event stays; it is not assessed any more.
    /// - Parameter blind: samples from now on until all detectors can trigger.
    public mutating func reset(blind: Int = 0) {
        (taken, inEvent) = (0, false)
        discriminator?.reset(blind: blind)
        motion?.reset()
        onsite?.reset()
        alarm?.reset()
    }

    /// Samples are missing. What is known of the noise stays, unless the gap is too long for that; an open event is not
    /// assessed any more.
    /// - Parameter blind: samples from now on until all detectors can trigger.
    public mutating func gap(seconds: Double, blind: Int = 0) {
        guard seconds <= Self.longestGap else { return reset(blind: blind) }
        (taken, inEvent) = (0, false)
        discriminator?.gap(blind: blind)
        motion?.reset()
        onsite?.reset()
        alarm?.reset()
    }

    /// Detectors have begun anew, with other settings.
    public mutating func detectorsBegan(blind: Int) { discriminator?.detectorsBegan(blind: blind) }

    /// Takes samples that were estimated for a short gap, a chunk at most: for the filters. They enter neither the noise nor
    /// the on-site estimate.
    /// - Parameters:
    ///   - raw: three planes of samples, `stride` apart, m/s².
    ///   - on: of each sample, not 0 in a trigger.
    public mutating func bridge(
        _ raw: UnsafePointer<Double>, stride: Int, _ on: UnsafePointer<UInt8>, count: Int
    ) {
        motion?.process(raw, stride: stride, count: count)
        discriminator?.bridge(raw, stride: stride, on, count: count)
        taken += count
        if inEvent { onsite?.reset() }
    }

    /// Takes a chunk of samples, before ``skip(_:stride:_:count:)`` and ``step(_:stride:_:)`` see each of them.
    /// - Parameter raw: three planes of samples, `stride` apart, m/s².
    public mutating func process(_ raw: UnsafePointer<Double>, stride: Int, count: Int) {
        motion?.process(raw, stride: stride, count: count)
    }

    /// Takes samples without an event.
    public mutating func skip(
        _ raw: UnsafePointer<Double>, stride: Int, _ on: UnsafePointer<UInt8>, count: Int
    ) {
        _ = discriminator?.take(raw, stride: stride, on, count: count)
        taken += count
    }

    /// An event begins with the next sample.
    public mutating func begin() {
        (inEvent, estimate, isAlarm) = (true, nil, false)
        discriminator?.begin()
        guard let motion else { return }
        onsite?.begin(motion, at: taken)
        alarm?.reset()
        alarm?.begin(0, motion, at: taken)
    }

    /// The event is over.
    public mutating func end() {
        inEvent = false
        discriminator?.end()
        onsite?.reset()
    }

    /// Takes one sample.
    /// - Returns: whether there is something new to publish at once.
    public mutating func step(_ raw: UnsafePointer<Double>, stride: Int, _ on: UnsafePointer<UInt8>) -> Bool {
        let isOn = on[0] != 0
        guard inEvent else {
            skip(raw, stride: stride, on, count: 1)
            return false
        }
        var isNew = false
        let another = discriminator?.beginning(on: isOn)
        if discriminator?.take(raw, stride: stride, on, count: 1) == true { isNew = true }
        if let motion {
            if let another { alarm?.begin(another, motion, at: taken) }
            alarm?.step(motion, at: taken, on: isOn)
            if let new = onsite?.step(motion, at: taken) { (estimate, isNew) = (new, true) }
        }
        taken += 1
        if !isAlarm, let moved = alarm?.moved, moved & (discriminator?.reached(settings.alarmProbability) ?? 0) != 0 {
            (isAlarm, isNew) = (true, true)
        }
        return isNew
    }
}
