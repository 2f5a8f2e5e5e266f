import Messages
import Seismology
import Settings
import SignalProcessing

/// State of an event that has not ended, and the message that reports it.
struct OpenEvent: Sendable {
    var motion: EventMotion
    var message: EventMessage
    /// False while the intensity is below the one asked for; nothing has been sent yet.
    var announced = false
    /// Largest JMA intensity of the motion's windows since the onset, at the end that of the record; not rounded.
    var jma: Double?
    /// Nanoseconds of UTC.
    var lastSent: Int64
    var lastTime: Int64
    private var firstMotion: Seismology.FirstMotion?
    /// False while there may be one that has not been found yet.
    private var firstMotionKnown = false
    private var arrival: ArrivalPick?
    /// False while more samples may tell more of the arrival.
    private var arrivalKnown = false

    /// - Parameters:
    ///   - motion: what was before the onset, or nothing.
    ///   - jma: of the last window before it, not rounded.
    init(motion: EventMotion, message: EventMessage, jma: Double?) {
        (self.motion, self.message, self.jma) = (motion, message, jma)
        (lastSent, lastTime) = (message.onset, message.onset)
    }

    /// Marks it with what a network says of it. False: it was marked so already. (Apart, because the verifier of
    /// Swift 6.0.3 ends the compiler where the recorder compares and sets it in one function.)
    mutating func mark(_ confirmation: EventConfirmation) -> Bool {
        guard message.confirmation != confirmation else { return false }
        message.confirmation = confirmation
        return true
    }

    mutating func note(
        _ time: Int64, _ planes: borrowing Planes, _ i: Int, _ state: DetectionState, _ notes: DetectorNotes
    ) {
        notes.take(planes, i, state, time: time, into: &message)
    }

    /// Writes into the message what the samples so far amount to.
    /// - Parameters:
    ///   - record: all samples of the event.
    ///   - picker: of the arrival.
    ///   - rate: samples per second.
    mutating func fill(
        _ configuration: Configuration, _ record: EventRecord, _ assessment: EventAssessment,
        _ picker: inout ArrivalPicker, rate: Double
    ) {
        let horizontal = configuration.intensity.horizontal
        func peak(_ p: EventMotion.Peak) -> Messages.Peak { .init(value: p.value, t: p.time) }
        message.peaks = Components(
            x: peak(motion.x), y: peak(motion.y), z: peak(motion.z), h: peak(motion.h), v3: peak(motion.v3))
        let (pga, pgv) = (motion.pga(horizontal), motion.pgv(horizontal))
        message.pga = pga
        message.pgaPercentG = pga / standardGravity * 100
        message.pgv = pgv
        let (velocity, horizontals) = (motion.velocity, motion.velocity.horizontal)
        message.peakVelocity = Components(
            x: horizontals.x, y: horizontals.y, z: velocity.z, h: horizontals.vector, v3: velocity.v3)
        message.cav = motion.cav
        message.arias = motion.arias
        message.duration = Double(lastTime - message.onset) / 1e9
        fillIntensity(configuration)
        if !message.test { message.take(assessment, pgv: pgv) }
        if !firstMotionKnown {
            firstMotion = record.firstMotion()
            firstMotionKnown =
                firstMotion != nil || Double(record.count - record.onset) > EventRecord.firstMotionSearch * rate
        }
        if !arrivalKnown, !message.test {
            arrival = picker.pick(record)
            arrivalKnown = Double(record.count - record.onset) > ArrivalPicker.after * rate
        }
        message.takeMeasures(motion, record, firstMotion, configuration)
        message.take(arrival)
    }

    mutating func fillIntensity(_ configuration: Configuration) {
        message.intensity.removeAll(keepingCapacity: true)
        let peaks = motion.peaks(configuration.intensity.horizontal)
        for scale in configuration.intensity.scales {
            guard let value = IntensityValue(scale, peaks, jma: jma) else { continue }
            message.intensity.append(value)
        }
    }
}

/// Where the event is that a command has asked for: what an event would be without shaking, from onset to end with its
/// waveform, marked as a test. Its numbers are those of the ground. It uses up no dead time, an open event keeps it from
/// beginning, and a real one that begins ends it at once.
public enum TestEvent: Sendable, Equatable {
    /// Seconds from onset to end, unless events have to be shorter.
    public static let seconds = 5.0

    case none
    /// Begins with the next sample.
    case wanted
    /// It lasts for so many samples more.
    case on(_ id: String, left: Int)
    case over(_ id: String)
    /// A real event was first, or the samples ended.
    case refused

    var isOn: Bool { if case .on = self { true } else { false } }
    var isWanted: Bool { self == .wanted }
}
