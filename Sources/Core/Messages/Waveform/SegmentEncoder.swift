import MiniSEED

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
