import MiniSEED
import Values

/// Turns the full-rate samples of an event into miniSEED messages: each one holds, for x, y and z in this order, the
/// records of one stretch of samples. Steim2; libmseed, ObsPy and pymseed read the messages one by one or joined.
///
/// Made once; `begin`, many times `append`, `finish`. Appending does not touch the heap.
public struct WaveformWriter: Sendable {
    private var segment: SegmentEncoder
    private var header: PublicationHeader?
    private var totals = Totals()

    private struct Totals: Sendable {
        var bytes = 0
        var records = 0
        var messages = 0
        var hash = SHA256()
    }

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - chunk: samples of each axis in a message, at least 1.
    /// - Throws: when the codes or the rate do not fit the format.
    public init(
        codes: ChannelCodes, rate: Double, format: MiniSEEDFormat, scale: CountScale, chunk: Int
    ) throws(MiniSEEDError) {
        segment = try SegmentEncoder(codes: codes, rate: rate, format: format, scale: scale, capacity: chunk)
    }

    public var scale: CountScale { segment.scale }
    /// Samples of each axis in a full message.
    public var chunk: Int { segment.capacity }

    /// Begins an event.
    /// - Parameter header: of its messages, see `Messenger.waveformHeader`.
    public mutating func begin(_ header: PublicationHeader) {
        self.header = header
        segment.removeAll()
        totals = Totals()
    }

    /// Adds one sample, m/s², and sends the message that it completes, or the one before it when its time does not
    /// follow on (a gap). Ignored outside an event.
    /// - Parameter time: of this sample, nanoseconds of UTC.
    public mutating func append(_ x: Double, _ y: Double, _ z: Double, time: Int64, to sink: PublicationSink) {
        guard header != nil else { return }
        if !segment.continues(at: time) { flush(to: sink) }
        segment.append(x, y, z, time: time)
        if segment.isFull { flush(to: sink) }
    }

    /// Sends what has been added so far: before a gap, so that what follows gets a time of its own.
    public mutating func flush(to sink: PublicationSink) {
        guard let header, segment.count > 0 else { return }
        segment.finish { bytes, records in
            totals.messages += 1
            totals.records += records
            totals.bytes += bytes.count
            totals.hash.update(bytes)
            sink(header, bytes)
        }
    }

    /// Sends the rest and says what the event's messages hold together; nil when there was no sample.
    public mutating func finish(to sink: PublicationSink) -> EventMessage.Waveform? {
        flush(to: sink)
        guard let header, totals.messages > 0 else { return nil }
        self.header = nil
        return EventMessage.Waveform(
            topic: header.topic, bytes: totals.bytes, records: totals.records, sha256: totals.hash.hexDigest(),
            messages: totals.messages, unitPerCount: scale.unitPerCount)
    }
}
