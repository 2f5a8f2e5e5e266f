import MiniSEED

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
