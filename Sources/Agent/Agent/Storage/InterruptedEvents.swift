import Messages
import Platform
import Spool
import Station
import Values

/// Closes the events that a run before this one left open, with what the disk has of them.
enum InterruptedEvents {
    /// Ends the interrupted events that the disk knows of.
    /// - Returns: how many there were.
    static func close(_ spool: inout Spool, _ context: Outbox.Context) throws(SpoolError) -> Int {
        var count = 0
        for event in try spool.unfinishedEvents() {
            var waveform: [[UInt8]] = []
            try spool.forEachWaveform(of: event.id) { waveform.append($0.payload) }
            let interrupted = InterruptedEvent(
                id: event.id, newest: event.trigger.payload, header: event.trigger.header, waveform: waveform)
            guard try close(interrupted, made: event.trigger.made, until: .max, &spool, context) else { continue }
            count += 1
        }
        if count > 0 { try spool.makeDurable() }
        return count
    }

    /// One that the broker knows of: its onset left before the disk had it, and then the power went.
    /// - Parameter until: when this run began (ns of UTC); what was recorded since is not of the event.
    /// - Returns: its `end` where that is the last of all ends; nil where there is nothing to be done, or nothing to tell.
    static func close(
        _ left: LeftOpenEvent, until: Int64, _ spool: inout Spool, _ context: Outbox.Context
    ) throws(SpoolError) -> (isClosed: Bool, last: [UInt8]?) {
        let ends = try spool.messages(of: left.id, .end ... .end)
        guard !ends.contains(where: { left.isEnded(by: $0.payload) }) else { return (false, nil) }
        var newer: Int64 = .min
        if let last = try spool.lastEnd() {
            newer = InterruptedEvent(id: "", newest: last.payload, header: last.header, waveform: []).onset ?? .min
        }
        let waveform = try spool.messages(of: left.id, .waveform ... .waveform).map(\.payload)
        let header = Stream.trigger.delivery.header(topic: context.topics.trigger)
        let interrupted = InterruptedEvent(id: left.id, newest: left.payload, header: header, waveform: waveform)
        guard try close(interrupted, made: left.onset, until: until, &spool, context) else { return (false, nil) }
        try spool.makeDurable()
        return (true, newer <= left.onset ? try spool.lastEnd()?.payload : nil)
    }

    /// - Returns: false where its newest message is none of an event.
    private static func close(
        _ event: InterruptedEvent, made: Int64, until: Int64, _ spool: inout Spool, _ context: Outbox.Context
    ) throws(SpoolError) -> Bool {
        let from = (event.onset ?? made) - Int64(context.configuration.detection.event.preEvent * 1e9)
        let segments = try records(spool: &spool, from: event.waveformNext ?? from, until: until)
        let topic = context.waveformHeader(of: event.id)
        guard let messages = event.messages(segments: segments, from: from, topic: topic) else { return false }
        for message in messages {
            _ = try message.payload.withBytes { bytes throws(SpoolError) in
                try spool.put(message.header, bytes, made: HostClock.wall())
            }
        }
        return true
    }

    /// The pieces of the ring from a time on (ns of UTC), as far as one follows the other within a minute.
    private static func records(spool: inout Spool, from: Int64, until: Int64) throws(SpoolError) -> [[UInt8]] {
        var all: [[UInt8]] = []
        var end = from
        for segment in spool.segments(from: from, to: .max) {
            guard segment.start < end + 60_000_000_000, segment.start < until else { break }
            if let records = try spool.records(of: segment) { all.append(records) }
            end = max(end, segment.end)
        }
        return all
    }
}

extension Outbox.Context {
    /// The header of the messages of an event's waveform; nil: the settings want none.
    func waveformHeader(of event: String) -> PublicationHeader? {
        guard configuration.waveform.enabled else { return nil }
        var header = Stream.waveform.delivery.header(topic: topics.waveform(eventID: event))
        header.event = EventMark(id: event, part: .waveform)
        return header
    }
}

/// Events that the broker retains of a run before this one, on their way from the link's thread to the one that owns the
/// disk. Bounded: each broker of the list has one.
final class LeftOpen: Sendable {
    private static let limit = 16
    private let messages = Mutex<[InboundMessage]>([])

    func put(_ message: InboundMessage) {
        messages.withLock { if $0.count < Self.limit { $0.append(message) } }
    }

    func take() -> [InboundMessage] {
        messages.withLock { messages in
            defer { messages.removeAll() }
            return messages
        }
    }
}

/// A network's confirmation of an event, kept beside it: it may come when the event's end has been written.
extension EventConfirmation {
    var note: String { "\(isConfirmed) \(networkEvent)" }

    /// An event's object with such a note in it, whatever it said itself.
    static func note(_ note: String?, in event: Value) -> Value {
        guard let note, let space = note.firstIndex(of: " "), case .object(var members) = event else { return event }
        members.removeAll { $0.key == "confirmed" || $0.key == "network_event" }
        members.append(.init("confirmed", .bool(note[..<space] == "true")))
        members.append(.init("network_event", .string(String(note[note.index(after: space)...]))))
        return .object(members)
    }
}
