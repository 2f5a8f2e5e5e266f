import Messages
import Spool
import Station

/// Closes the events that a killed agent left open, with what it had kept of them.
enum InterruptedEvents {
    /// - Returns: how many there were.
    static func close(_ spool: inout Spool, _ context: Outbox.Context) throws(SpoolError) -> Int {
        var count = 0
        for event in try spool.unfinishedEvents() {
            var waveform: [[UInt8]] = []
            try spool.forEachWaveform(of: event.id) { waveform.append($0.payload) }
            let interrupted = InterruptedEvent(
                id: event.id, newest: event.trigger.payload, header: event.trigger.header, waveform: waveform)
            let from =
                (interrupted.onset ?? event.trigger.made) - Int64(context.configuration.detection.event.preEvent * 1e9)
            let segments = try records(spool: &spool, from: interrupted.waveformNext ?? from)
            let topic = context.waveformHeader(of: event.id)
            guard let messages = interrupted.messages(segments: segments, from: from, topic: topic) else { continue }
            for message in messages {
                _ = try message.payload.withBytes { bytes throws(SpoolError) in
                    try spool.put(message.header, bytes, made: HostClock.wall())
                }
            }
            count += 1
        }
        if count > 0 { try spool.makeDurable() }
        return count
    }

    /// The pieces of the ring from a time on (ns of UTC), as far as one follows the other within a minute.
    private static func records(spool: inout Spool, from: Int64) throws(SpoolError) -> [[UInt8]] {
        var all: [[UInt8]] = []
        var end = from
        for segment in spool.segments(from: from, to: .max) {
            guard segment.start < end + 60_000_000_000 else { break }
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
