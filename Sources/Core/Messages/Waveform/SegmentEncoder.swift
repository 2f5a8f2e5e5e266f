import MiniSEED
import Values

/// Collects consecutive samples of three axes and turns them into the miniSEED records of x, y and z, in this order.
/// Steim2. Once its buffer has grown it does not touch the heap.
struct SegmentEncoder: Sendable {
    let scale: CountScale
    /// Samples per second.
    let rate: Double
    /// Most samples of each axis.
    let capacity: Int
    /// Samples of each axis there are.
    private(set) var count = 0
    /// Time of the first and the last sample, nanoseconds of UTC.
    private(set) var start: Int64 = 0
    private(set) var end: Int64 = 0

    /// Nanoseconds between two samples.
    private let interval: Double
    private let sources: [SourceIdentifier]
    private var writer: MiniSEEDWriter
    /// Three planes of `capacity` counts.
    private var counts: [Int32]
    private var output: [UInt8] = []

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - capacity: samples of each axis, at least 1.
    /// - Throws: when the codes or the rate do not fit the format.
    init(
        codes: ChannelCodes, rate: Double, format: MiniSEEDFormat, scale: CountScale, capacity: Int
    ) throws(MiniSEEDError) {
        self.scale = scale
        self.rate = rate
        interval = 1e9 / rate
        self.capacity = max(1, capacity)
        sources = (0..<3).map { codes.source(.acceleration, axis: $0, rate: rate) }
        writer = try MiniSEEDWriter(format: format)
        if format == .v3 { writer.extraHeaders = scale.extraHeaders }
        var trial = writer
        for source in sources { _ = try trial.encode([0], start: 0, rate: rate, source: source) }
        counts = [Int32](repeating: 0, count: 3 * self.capacity)
        output.reserveCapacity(3 * (4 * self.capacity + 2 * writer.recordLength))
    }

    var isFull: Bool { count == capacity }

    /// False when a sample of this time does not follow on the last one: there is a gap.
    func continues(at time: Int64) -> Bool {
        count == 0 || abs(Double(time &- start) - Double(count) * interval) <= interval / 2
    }

    /// Adds one sample, m/s²; only while it is not full.
    mutating func append(_ x: Double, _ y: Double, _ z: Double, time: Int64) {
        if count == 0 { start = time }
        end = time
        counts[count] = scale.count(x)
        counts[capacity + count] = scale.count(y)
        counts[2 * capacity + count] = scale.count(z)
        count += 1
    }

    /// Hands out the records of what there is, and how many they are; then it is empty. At least one sample is there.
    mutating func finish(_ body: (UnsafeRawBufferPointer, Int) -> Void) {
        output.removeAll(keepingCapacity: true)
        var records = 0
        for axis in 0..<3 { records += encode(axis) }
        count = 0
        output.withUnsafeBytes { body($0, records) }
    }

    mutating func removeAll() {
        count = 0
        writer.restart()
    }

    private mutating func encode(_ axis: Int) -> Int {
        counts.withUnsafeBufferPointer { counts in
            let plane = UnsafeBufferPointer(rebasing: counts[axis * capacity..<axis * capacity + count])
            do throws(MiniSEEDError) {
                return try writer.encode(plane, start: start, rate: rate, source: sources[axis], into: &output)
            } catch {
                // Codes and rate were tried in `init`, and there is a sample: nothing is left that could fail.
                return 0
            }
        }
    }
}

/// How accelerations become the integers of miniSEED: counts = round(acceleration / `unitPerCount`), halves away from 0.
///
/// The unit is the sensor's own smallest step, so that what the sensor had comes back without loss; where that is not
/// known, 1 µm/s², a tenth of a millionth of g. It is doubled until the full scale fits into the 30 bits of a Steim2
/// difference. Numbers beyond 32 bits saturate, NaN becomes 0.
public struct CountScale: Sendable, Equatable {
    /// m/s² of one count.
    public let unitPerCount: Double

    /// Where the sensor does not say.
    public static let defaultUnit = 1e-6
    /// Full scale in m/s² that always fits.
    static let leastFullScale = 200.0

    /// - Parameters:
    ///   - resolution: smallest step of the sensor in m/s²; nil when not known.
    ///   - range: full scale of the sensor in m/s²; nil when not known.
    public init(resolution: Double? = nil, range: Double? = nil) {
        var unit = Self.defaultUnit
        if let resolution, resolution.isFinite, resolution > 0 { unit = resolution }
        var fullScale = Self.leastFullScale
        if let range, range.isFinite { fullScale = max(fullScale, range) }
        while fullScale / unit > Double(1 << 29) { unit *= 2 }
        unitPerCount = unit
    }

    /// A scale of this very unit.
    package init(unit: Double) { unitPerCount = unit }

    /// The count of an acceleration in m/s².
    public func count(_ acceleration: Double) -> Int32 {
        let counts = (acceleration / unitPerCount).rounded()
        guard counts == counts else { return 0 }
        return Int32(min(max(counts, Double(Int32.min)), Double(Int32.max)))
    }

    /// The member of miniSEED 3's extra headers that says what a count is.
    package var extraHeaders: [UInt8] {
        Value.object([
            .init(
                "seismote", .object([.init("unit", .string("m/s^2")), .init("unit_per_count", .double(unitPerCount))]))
        ]).json()
    }
}

/// Codes of a station's channels in miniSEED, by FDSN's rules (Source Identifiers 1.0; SEED manual, appendix A).
///
/// - **Band** from the sample rate. A MEMS accelerometer answers down to 0 Hz, so always the letter for a corner of
///   10 s or longer: `J` from 5000 Hz, `F` from 1000, `C` from 250, `H` from 80, `B` from 10, `M` above 1, `L` to 0.3,
///   `V` below.
/// - **Source** (instrument) `N`, accelerometer. Traces that are computed from it: `X` filtered (derived channel),
///   `Y` RMS.
/// - **Orientation** `E`, `N`, `Z` when the station's y axis points within 5° of north, else `1`, `2`, `Z` for x, y, z.
public struct ChannelCodes: Sendable, Equatable {
    /// Content of a channel.
    public enum Content: String, Sendable, CaseIterable { case acceleration = "N", filtered = "X", rms = "Y" }

    public var network: String
    public var station: String
    public var location: String
    /// Whether x is east and y is north.
    public var aligned: Bool

    /// - Parameters:
    ///   - station: FDSN station code; when empty, the first five letters and digits of `id` in capitals.
    ///   - id: the station's id in topics.
    ///   - north: bearing of the y axis in degrees clockwise from true north.
    public init(network: String, station: String, location: String, id: String, north: Double = 0) {
        self.network = network
        self.station = station.isEmpty ? Self.stationCode(id: id) : station
        self.location = location
        let turned = abs(north.remainder(dividingBy: 360))
        aligned = turned <= 5
    }

    /// The name of one channel; axis 0, 1, 2 is x, y, z.
    public func source(_ content: Content, axis: Int, rate: Double) -> SourceIdentifier {
        let orientation = axis == 2 ? "Z" : aligned ? (axis == 0 ? "E" : "N") : (axis == 0 ? "1" : "2")
        return SourceIdentifier(
            network: network, station: station, location: location, band: Self.band(rate: rate),
            source: content.rawValue, subsource: orientation)
    }

    /// The band code of a rate in Hz.
    public static func band(rate: Double) -> String {
        switch rate {
        case 5000...: "J"
        case 1000...: "F"
        case 250...: "C"
        case 80...: "H"
        case 10...: "B"
        case 1.001...: "M"
        case 0.3...: "L"
        default: "V"
        }
    }

    static func stationCode(id: String) -> String {
        var code: [UInt8] = []
        for byte in id.utf8 where code.count < 5 {
            if byte.isAlphanumeric { code.append(byte.isSmallLetter ? byte - 32 : byte) }
        }
        return code.isEmpty ? "STA" : String(decoding: code, as: UTF8.self)
    }
}

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
