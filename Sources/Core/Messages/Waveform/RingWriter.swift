import MiniSEED

/// A stretch of full-rate samples of all three axes without a gap.
public struct WaveformSegment: Sendable, Equatable {
    /// Time of the first and the last sample, nanoseconds of UTC.
    public var start: Int64
    public var end: Int64
    /// Samples of each axis.
    public var samples: Int
    /// Samples per second.
    public var rate: Double

    /// m/s² of a count.
    public var unit: Double
}

/// Takes the miniSEED records of a segment; the bytes are only valid during the call.
public typealias SegmentSink = (WaveformSegment, UnsafeRawBufferPointer) -> Void

/// Turns all samples into segments of the waveform ring, miniSEED as in an event's waveform: whole ones in the quiet,
/// and short ones while something happens, so that a sudden end of the agent loses little of it.
public struct RingWriter: Sendable {
    /// Seconds of a segment in the quiet, and while an event lasts.
    public static let quietSeconds = 10.0
    public static let eventSeconds = 1.0

    private var segment: SegmentEncoder
    private let short: Int

    /// - Parameter rate: samples per second.
    /// - Throws: when the codes or the rate do not fit the format.
    public init(codes: ChannelCodes, rate: Double, format: MiniSEEDFormat, scale: CountScale) throws(MiniSEEDError) {
        short = max(1, Int((Self.eventSeconds * rate).rounded()))
        segment = try SegmentEncoder(
            codes: codes, rate: rate, format: format, scale: scale,
            capacity: max(1, Int((Self.quietSeconds * rate).rounded())))
    }

    /// Adds one sample, m/s², and hands out the segment that it completes, or the one before a gap.
    /// - Parameters:
    ///   - time: of this sample, nanoseconds of UTC.
    ///   - inEvent: an event is open.
    public mutating func append(
        _ x: Double, _ y: Double, _ z: Double, time: Int64, inEvent: Bool, to sink: SegmentSink
    ) {
        if !segment.continues(at: time) { flush(to: sink) }
        segment.append(x, y, z, time: time)
        if segment.isFull || inEvent && segment.count >= short { flush(to: sink) }
    }

    /// Hands out what there is.
    public mutating func flush(to sink: SegmentSink) {
        guard segment.count > 0 else { return }
        let about = WaveformSegment(
            start: segment.start, end: segment.end, samples: segment.count, rate: segment.rate,
            unit: segment.scale.unitPerCount)
        segment.finish { bytes, _ in sink(about, bytes) }
    }
}
