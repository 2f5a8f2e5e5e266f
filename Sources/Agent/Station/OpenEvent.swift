import Messages
import MiniSEED
import Seismology
import Settings
import SignalProcessing
import Values

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
    /// Number of its last sample since the start of the agent.
    var lastIndex: Int64 = 0
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

    /// Writes into the message that its end lies in a gap, so many seconds behind its last sample.
    mutating func endInGap(_ missing: Double) {
        let end = lastTime + Int64((missing * 1e9).rounded())
        (message.end, message.duration) = (end, Double(end - message.onset) / 1e9)
        message.gaps += 1
        message.missing = ((message.missing + missing) * 1e4).rounded() / 1e4
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

/// An event that had begun when the agent was killed: closes it with what was kept. Readers get the rest of its waveform,
/// as far as the ring has it, and an `end` that goes on the stream of messages that the event's own agent began.
public struct InterruptedEvent: Sendable {
    public var id: String
    /// The newest message of the event, onset or update: its bytes and its header.
    public var newest: [UInt8]
    public var header: PublicationHeader
    /// The messages of its waveform that were made, in their order.
    public var waveform: [[UInt8]]

    public init(id: String, newest: [UInt8], header: PublicationHeader, waveform: [[UInt8]]) {
        self.id = id
        self.newest = newest
        self.header = header
        self.waveform = waveform
    }

    /// A message as it is to be sent.
    public struct Message: Sendable, Equatable {
        public var header: PublicationHeader
        public var payload: [UInt8]
    }

    /// Time of the onset in the newest message (ns of UTC); nil when that is none that this agent can have made.
    public var onset: Int64? {
        (try? JSONReader.read(newest)).flatMap { StationEventMembers($0).onset }
    }

    /// Content of its waveform so far.
    private var made: (records: Int, last: Int64?, rate: Double) {
        var made: (records: Int, last: Int64?, rate: Double) = (0, nil, 0)
        for bytes in waveform {
            var scratch: [UInt8] = []
            guard let all = try? MiniSEEDCut.append(bytes, .min ... .max, to: &scratch) else { continue }
            made.records += all.records
            if let last = all.last { made.last = max(made.last ?? .min, last) }
            if all.rate > 0 { made.rate = all.rate }
        }
        return made
    }

    /// From when on the waveform is missing (ns of UTC), half a sample after the last one that there is; nil: all of it is.
    public var waveformNext: Int64? {
        let made = self.made
        return made.last.map { $0 + Int64(0.5e9 / max(made.rate, 1e-3)) }
    }

    /// The messages that close it: the missing part of the waveform, one for each segment, and the `end`.
    /// - Parameters:
    ///   - segments: of the ring, in the order of time; what lies before the part that is missing is cut off.
    ///   - from: time of the first sample that belongs to the event (ns of UTC), where there is no waveform yet.
    ///   - topic: of its waveform; nil: the settings want none.
    /// - Returns: nil when the newest message is not one of an event.
    public func messages(segments: [[UInt8]], from: Int64, topic: PublicationHeader?) -> [Message]? {
        guard case .object(let members)? = try? JSONReader.read(newest), let onset else { return nil }
        var messages: [Message] = []
        let made = self.made
        var (hash, bytes, records, count) = (SHA256(), 0, made.records, waveform.count)
        for part in waveform {
            hash.update(part)
            bytes += part.count
        }
        var last = made.last
        let start = waveformNext ?? from
        for segment in segments where topic != nil {
            var payload: [UInt8] = []
            guard let part = try? MiniSEEDCut.append(segment, start ... .max, to: &payload), part.samples > 0 else {
                continue
            }
            hash.update(payload)
            bytes += payload.count
            records += part.records
            count += 1
            last = max(last ?? .min, part.last ?? .min)
            if let topic { messages.append(Message(header: topic, payload: payload)) }
        }
        let end = max(last ?? onset, onset)
        var about: Value?
        if count > 0, let topic = topic?.topic {
            about = .object([
                .init("topic", .string(topic)), .init("bytes", .int(Int64(bytes))),
                .init("records", .int(Int64(records))), .init("sha256", .string(hash.hexDigest())),
                .init("messages", .int(Int64(count))),
            ])
        }
        var header = self.header
        header.expiry = nil
        header.event = EventMark(id: id, part: .end)
        messages.append(Message(header: header, payload: closed(members, onset: onset, end: end, waveform: about)))
        return messages
    }

    /// The newest message as an `end`.
    private func closed(_ members: [Value.Member], onset: Int64, end: Int64, waveform: Value?) -> [UInt8] {
        var all: [Value.Member] = []
        for member in members {
            switch member.key {
            case "seq":
                guard case .int(let number) = member.value else { fallthrough }
                all.append(.init("seq", .int(number + 1)))
            case "event_type": all.append(.init("event_type", .string("end")))
            case "onset":
                all.append(member)
                all.append(.init("end", .string(Timestamp(nanoseconds: end).description)))
            case "duration_s": all.append(.init("duration_s", .double(Double(end - onset) / 1e9)))
            case "end", "waveform", "interrupted": break
            default: all.append(member)
            }
        }
        if let waveform { all.append(.init("waveform", waveform)) }
        all.append(.init("interrupted", .bool(true)))
        return Value.object(all).json()
    }
}

/// An event that a run of this station before the present one left open, as the broker has it on `event/current`: nothing
/// of it is believed that is not as this station writes it.
public struct LeftOpenEvent: Sendable, Equatable {
    /// Bytes of the longest message that is looked at; the agent's own are shorter.
    public static let limit = 32 << 10

    public let id: String
    /// The run that it is of, and the number of its newest message.
    public let boot: String
    public let number: Int64
    /// Time of the onset (ns of UTC).
    public let onset: Int64
    /// The message: an onset or an update.
    public let payload: [UInt8]

    /// Nil: it is not one of this station, not open, or of the present run.
    /// - Parameters:
    ///   - topics: of this station.
    ///   - boot: of the present run.
    public init?(_ message: InboundMessage, topics: Topics, boot: String) {
        guard message.topic == topics.current, !message.isTooLarge, (1...Self.limit).contains(message.payload.count),
            let tree = try? JSONReader.read(message.payload), case .object = tree,
            let event = StationEventReading(tree), event.station == topics.id,
            event.kind == .onset || event.kind == .update, event.eventID == topics.eventID(onset: event.onset),
            let run = MessageStamp(tree).boot, run != boot, Self.isID(run), let number = MessageStamp(tree).sequence,
            (0..<1 << 53).contains(number)
        else { return nil }
        (id, self.boot, self.number, onset) = (event.eventID, run, number, event.onset)
        payload = message.payload
    }

    /// Whether a message is the end of this very event, and not older than what is known of it.
    public func isEnded(by end: [UInt8]) -> Bool {
        guard let tree = try? JSONReader.read(end), StationEventMembers(tree).kind == .end,
            MessageStamp(tree).boot == boot, let last = MessageStamp(tree).sequence
        else { return false }
        return last > number
    }

    /// As runs are named: 32 hexadecimal digits and four hyphens.
    private static func isID(_ text: String) -> Bool {
        text.isMade(36...36) { $0.isDigit || (0x61...0x66).contains($0) || $0 == 0x2D }
    }
}
