/// The acceleration without offset of an open event, from the onset less the time before it to the last sample, for
/// measures that need all of it at once (durations, spectra, intensities by the Fourier transform).
///
/// It takes memory in pages when it needs them and keeps them for the next event, so that after the first events
/// nothing is allocated. Missing samples are not filled: what lies on both sides of a gap is two ``segments``.
public struct EventRecord: Sendable {
    /// An unbroken stretch of samples, up to the next segment's first sample or the end.
    public struct Segment: Sendable, Equatable {
        /// Place in the record of its first sample.
        public let first: Int
        /// Time of that sample, nanoseconds of UTC.
        public let time: Int64
        /// Number of that sample since the start of the agent; what is missing before it is in it.
        public let index: Int64
    }

    /// Samples of a page; 4096 of three axes are 96 KiB.
    private static let pageLength = 4096

    /// Samples per second.
    public let rate: Double
    /// Samples that are kept at most; later ones are not taken.
    public var capacity: Int
    /// Samples there are.
    public private(set) var count = 0
    /// Place of the onset: the samples before it came before the event.
    public private(set) var onset = 0
    /// Empty while there is no sample.
    public private(set) var segments: [Segment] = []

    /// Each holds x, y, z of its samples, one axis after the other.
    private var pages: [[Double]] = []
    private var nextIndex: Int64 = 0

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - capacity: the longest event with the time before it, samples.
    public init(rate: Double, capacity: Int) {
        self.rate = rate
        self.capacity = capacity
        segments.reserveCapacity(16)
    }

    /// Forgets all samples, keeps the memory.
    public mutating func removeAll() {
        (count, onset) = (0, 0)
        segments.removeAll(keepingCapacity: true)
    }

    /// Says that the next sample is the onset.
    public mutating func markOnset() { onset = count }

    /// Takes the next sample, m/s².
    /// - Parameters:
    ///   - time: nanoseconds of UTC.
    ///   - index: number since the start of the agent, which rises by more than one over a gap.
    public mutating func append(_ x: Double, _ y: Double, _ z: Double, time: Int64, index: Int64) {
        guard count < capacity else { return }
        if count == 0 || index != nextIndex { segments.append(.init(first: count, time: time, index: index)) }
        nextIndex = index + 1
        let (page, i) = (count / Self.pageLength, count % Self.pageLength)
        if page == pages.count { pages.append([Double](repeating: 0, count: 3 * Self.pageLength)) }
        pages[page][i] = x
        pages[page][Self.pageLength + i] = y
        pages[page][2 * Self.pageLength + i] = z
        count += 1
    }

    /// Samples that are missing between the first and the last.
    public var missing: Int64 {
        guard let first = segments.first, count > 0, let last = segments.last else { return 0 }
        return last.index + Int64(count - last.first) - first.index - Int64(count)
    }

    /// Copies samples of an axis (0, 1, 2) to `to`, which must have room for all of the range.
    /// - Parameter range: places in the record, within `0..<count`.
    public func copy(axis: Int, _ range: Range<Int>, to target: UnsafeMutablePointer<Double>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count && axis >= 0 && axis < 3)
        var (from, place) = (range.lowerBound, target)
        while from < range.upperBound {
            let i = from % Self.pageLength
            let length = min(Self.pageLength - i, range.upperBound - from)
            pages[from / Self.pageLength].withUnsafeBufferPointer { page in
                guard let base = page.baseAddress else { return }
                place.update(from: base + axis * Self.pageLength + i, count: length)
            }
            from += length
            place += length
        }
    }

    /// One value of an axis (0, 1, 2), m/s².
    /// - Parameter i: place in the record, within `0..<count`.
    public func value(axis: Int, _ i: Int) -> Double {
        pages[i / Self.pageLength][axis * Self.pageLength + i % Self.pageLength]
    }

    /// One sample, m/s².
    /// - Parameter i: place in the record, within `0..<count`.
    public subscript(i: Int) -> (x: Double, y: Double, z: Double) {
        (value(axis: 0, i), value(axis: 1, i), value(axis: 2, i))
    }

    /// Time of a sample, nanoseconds of UTC, counted from the first of its segment.
    /// - Parameter i: place in the record, within `0..<count`.
    public func time(_ i: Int) -> Int64 {
        guard let segment = segments.last(where: { $0.first <= i }) else { return 0 }
        return segment.time + Int64((Double(i - segment.first) * 1e9 / rate).rounded())
    }
}
