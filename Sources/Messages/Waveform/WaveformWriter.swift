import MiniSEED

/// Turns the full-rate samples of an event into miniSEED messages: each one holds, for x, y and z in this order, the
/// records of one stretch of samples. Steim2; libmseed, ObsPy and pymseed read the messages one by one or joined.
///
/// Made once; `begin`, many times `append`, `finish`. Appending does not touch the heap.
public struct WaveformWriter: Sendable {
    public let scale: CountScale
    /// Samples of each axis in a full message.
    public let chunk: Int
    private let rate: Double
    /// Nanoseconds between two samples.
    private let interval: Double
    private let sources: [SourceIdentifier]
    private var writer: MiniSEEDWriter
    private var header: PublicationHeader?
    /// Three planes of `chunk` counts.
    private var counts: [Int32]
    private var filled = 0
    private var start: Int64 = 0
    private var output: [UInt8] = []
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
        self.scale = scale
        self.rate = rate
        interval = 1e9 / rate
        self.chunk = max(1, chunk)
        sources = (0..<3).map { codes.source(.acceleration, axis: $0, rate: rate) }
        writer = try MiniSEEDWriter(format: format)
        if format == .v3 { writer.extraHeaders = scale.extraHeaders }
        var trial = writer
        for source in sources { _ = try trial.encode([0], start: 0, rate: rate, source: source) }
        counts = [Int32](repeating: 0, count: 3 * self.chunk)
        output.reserveCapacity(3 * (4 * self.chunk + 2 * writer.recordLength))
    }

    /// Begins an event.
    /// - Parameter header: of its messages, see `Messenger.waveformHeader`.
    public mutating func begin(_ header: PublicationHeader) {
        self.header = header
        filled = 0
        totals = Totals()
    }

    /// Adds one sample, m/s², and sends the message that it completes, or the one before it when its time does not
    /// follow on (a gap). Ignored outside an event.
    /// - Parameter time: of this sample, nanoseconds of UTC.
    public mutating func append(_ x: Double, _ y: Double, _ z: Double, time: Int64, to sink: PublicationSink) {
        guard header != nil else { return }
        if filled > 0, abs(Double(time &- start) - Double(filled) * interval) > interval / 2 { flush(to: sink) }
        if filled == 0 { start = time }
        counts[filled] = scale.count(x)
        counts[chunk + filled] = scale.count(y)
        counts[2 * chunk + filled] = scale.count(z)
        filled += 1
        if filled == chunk { flush(to: sink) }
    }

    /// Sends what has been added so far: before a gap, so that what follows gets a time of its own.
    public mutating func flush(to sink: PublicationSink) {
        guard let header, filled > 0 else { return }
        output.removeAll(keepingCapacity: true)
        var records = 0
        for axis in 0..<3 { records += encode(axis) }
        filled = 0
        totals.messages += 1
        totals.records += records
        totals.bytes += output.count
        output.withUnsafeBytes {
            totals.hash.update($0)
            sink(header, $0)
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

    private mutating func encode(_ axis: Int) -> Int {
        counts.withUnsafeBufferPointer { counts in
            let plane = UnsafeBufferPointer(rebasing: counts[axis * chunk..<axis * chunk + filled])
            do throws(MiniSEEDError) {
                return try writer.encode(plane, start: start, rate: rate, source: sources[axis], into: &output)
            } catch {
                // Codes and rate were tried in `init`, and there is a sample: nothing is left that could fail.
                return 0
            }
        }
    }
}
