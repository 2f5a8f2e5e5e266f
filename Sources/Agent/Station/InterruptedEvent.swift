import Messages
import MiniSEED
import Settings
import Values

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
        guard let tree = try? JSONReader.read(newest), case .string(let text)? = tree["onset"] else { return nil }
        return Timestamp(text)?.nanoseconds
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
            let run = tree["boot"]?.rawText, run != boot,
            Self.isID(run), let number = tree["seq"]?.integer, (0..<1 << 53).contains(number)
        else { return nil }
        (id, self.boot, self.number, onset) = (event.eventID, run, number, event.onset)
        payload = message.payload
    }

    /// Whether a message is the end of this very event, and not older than what is known of it.
    public func isEnded(by end: [UInt8]) -> Bool {
        guard let tree = try? JSONReader.read(end), tree["event_type"]?.rawText == "end", tree["boot"]?.rawText == boot,
            let last = tree["seq"]?.integer
        else { return false }
        return last > number
    }

    /// As runs are named: 32 hexadecimal digits and four hyphens.
    private static func isID(_ text: String) -> Bool {
        text.isMade(36...36) { $0.isDigit || (0x61...0x66).contains($0) || $0 == 0x2D }
    }
}
