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

/// How blocks of traces are written.
public enum TraceForm: Sendable {
    case json
    /// RFC 8949, the same object as in JSON.
    case cbor
    /// miniSEED.
    case records(TraceRecords)

    var contentType: ContentType {
        switch self {
        case .json: .json
        case .cbor: .cbor
        case .records: .mseed
        }
    }

    var records: TraceRecords? {
        if case .records(let records) = self { records } else { nil }
    }
}

/// Writes trace blocks as miniSEED instead of JSON: for each axis the records of raw (`N`), filtered (`X`) and RMS (`Y`),
/// as far as the block has them, in counts of 1 µm/s². Trigger flags have no place in miniSEED.
public struct TraceRecords: Sendable {
    private let codes: ChannelCodes
    private let scale = CountScale()
    private var writer: MiniSEEDWriter
    private var counts: [Int32] = []
    private var output: [UInt8] = []

    /// - Throws: when the codes do not fit the format.
    public init(codes: ChannelCodes, format: MiniSEEDFormat) throws(MiniSEEDError) {
        self.codes = codes
        // A block of a second is short; the smallest records waste the least.
        writer = try MiniSEEDWriter(format: format, recordLength: format == .v2 ? 256 : nil)
        if format == .v3 { writer.extraHeaders = scale.extraHeaders }
        var trial = writer
        _ = try trial.encode([0], start: 0, rate: 1, source: codes.source(.acceleration, axis: 0, rate: 1))
    }

    /// Gives a body the records of a block; they are valid only during the call.
    /// - Parameter time: of the first sample, nanoseconds of UTC.
    mutating func withRecords(of block: TraceBlock, time: Int64, _ body: (UnsafeRawBufferPointer) -> Void) {
        output.removeAll(keepingCapacity: true)
        guard block.count > 0 else { return }
        for axis in 0..<3 {
            if block.signals.contains(.raw) { encode(block, .raw, .acceleration, axis, time) }
            if block.signals.contains(.filtered) { encode(block, .filtered, .filtered, axis, time) }
            if block.signals.contains(.rms) { encode(block, .rms, .rms, axis, time) }
        }
        if !output.isEmpty { output.withUnsafeBytes(body) }
    }

    private mutating func encode(
        _ block: TraceBlock, _ signal: TraceBlock.Signal, _ content: ChannelCodes.Content, _ axis: Int, _ time: Int64
    ) {
        counts.removeAll(keepingCapacity: true)
        for i in 0..<block.count { counts.append(scale.count(block.value(signal, axis: axis, at: i))) }
        let source = codes.source(content, axis: axis, rate: block.rate)
        counts.withUnsafeBufferPointer { counts in
            do throws(MiniSEEDError) {
                try writer.encode(counts, start: time, rate: block.rate, source: source, into: &output)
            } catch {
                // Only a rate outside miniSEED's range is left to fail, below 0.1 Hz: there is then nothing to send.
                output.removeAll(keepingCapacity: true)
            }
        }
    }
}
