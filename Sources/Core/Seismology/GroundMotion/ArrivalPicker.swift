import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// When the first wave of an event arrived.
public struct ArrivalPick: Sendable, Equatable {
    /// Seconds after the onset; mostly negative, since a detector needs some of the wave.
    public var time: Double
    /// Standard deviation, s.
    public var sigma: Double
}

/// Picks the arrival in the record of an event by Akaike's information criterion on the samples themselves (Maeda, A
/// method for reading and checking phase times in autoprocessing system of seismic wave data, Zisin 38, 1985; Zhang and
/// others, BSSA 93, 2003): where two stretches of noise, each with its own variance on each axis, explain the record best,
/// k Σ ln σ₁² + (n − k − 1) Σ ln σ₂². All axes count; motion below 1 Hz is filtered away.
///
/// It looks at the last ten seconds before the onset and at five after it at most: at the onset at what has come by then,
/// later at more. The uncertainty is the spread of the arrival by the weights e^(−ΔAIC/2T). T = 6, because neighbouring
/// samples and axes depend on each other: on 86 field recordings 98 % of the picks at the onset lie within two standard
/// deviations of the one with all five seconds.
public struct ArrivalPicker: Sendable {
    /// Seconds before the onset that are looked at, at most and at least, and after it.
    public static let (before, least, after) = (10.0, 3.0, 5.0)
    private static let temperature = 6.0
    /// Least uncertainty, s.
    private static let floor = 0.03
    /// Seconds that the filter needs.
    private static let settling = 0.5

    private let rate: Double
    /// So many samples become one, their mean: more than 200 a second tell nothing more, and would take too long.
    private let factor: Int
    private var filter: AxisFilter?
    /// Three planes, and the criterion; made with the first pick.
    private var planes: [Double] = []
    private let capacity: Int

    /// - Parameter rate: samples per second.
    public init(rate: Double) {
        self.rate = rate
        factor = max(1, Int(rate / 200))
        capacity = Int((Self.before + Self.after) * rate) / factor + 2
        let highpass = FilterSpecification.butterworth(
            .init(band: .highpass, corners: [1], order: 2, start: .zero))
        if let design = try? highpass.design(rate: rate / Double(factor)) {
            filter = AxisFilter(design, design, design)
        }
    }

    /// The arrival, from the samples of the record so far; nil where less than three seconds before the onset are there.
    public mutating func pick(_ record: EventRecord) -> ArrivalPick? {
        let onset = record.onset
        guard filter != nil, onset < record.count else { return nil }
        let stretch = record.segments.lastIndex { $0.first <= onset } ?? 0
        let next = stretch + 1 < record.segments.count ? record.segments[stretch + 1].first : record.count
        let first = max(record.segments[stretch].first, onset - Int(Self.before * rate))
        guard Double(onset - first) >= Self.least * rate else { return nil }
        // Means are counted from the onset backwards and forwards, so that it ends one.
        let from = onset + 1 - (onset + 1 - first) / factor * factor
        let n = min((min(next, onset + 1 + Int(Self.after * rate)) - from) / factor, capacity)
        let skipped = Int(Self.settling * rate) / factor
        guard n - skipped >= 16 else { return nil }
        if planes.isEmpty { planes = [Double](repeating: 0, count: 4 * capacity) }
        // Out of self while the filter works on it: no copy is made.
        var memory: [Double] = []
        swap(&memory, &planes)
        defer { swap(&memory, &planes) }
        return memory.withUnsafeMutableBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return nil }
            let (y, z, criterion) = (x + capacity, x + 2 * capacity, x + 3 * capacity)
            load(record, from, n, x)
            filter?.reset()
            filter?.process(x, y, z, count: n)
            let found = Self.search(x + skipped, y + skipped, z + skipped, n - skipped, criterion)
            let interval = Double(factor) / rate
            let place = Double(from - onset) / rate + Double(skipped + found.place) * interval
            let spread = found.spread * interval
            return ArrivalPick(time: place, sigma: (spread * spread + Self.floor * Self.floor).squareRoot())
        }
    }

    /// Writes means of some samples each, less the first, into three planes.
    private func load(_ record: EventRecord, _ from: Int, _ n: Int, _ planes: UnsafeMutablePointer<Double>) {
        for axis in 0..<3 {
            let plane = planes + axis * capacity
            let start = record.value(axis: axis, from)
            for i in 0..<n {
                var sum = 0.0
                for k in 0..<factor { sum += record.value(axis: axis, from + i * factor + k) - start }
                plane[i] = sum / Double(factor)
            }
        }
    }

    /// The first sample of the second stretch, and the spread of it in samples.
    private static func search(
        _ x: UnsafePointer<Double>, _ y: UnsafePointer<Double>, _ z: UnsafePointer<Double>, _ n: Int,
        _ criterion: UnsafeMutablePointer<Double>
    ) -> (place: Int, spread: Double) {
        var (sums, squares) = (SIMD3<Double>.zero, SIMD3<Double>.zero)
        for i in 0..<n {
            let a = SIMD3(x[i], y[i], z[i])
            sums += a
            squares += a * a
        }
        /// Logarithm of the product of the variances of some samples.
        func logarithm(_ count: Double, _ sum: SIMD3<Double>, _ square: SIMD3<Double>) -> Double {
            let mean = sum / count
            let variance = square / count - mean * mean
            return log(max(variance.x, 1e-20) * max(variance.y, 1e-20) * max(variance.z, 1e-20))
        }
        var (sum, square) = (SIMD3<Double>.zero, SIMD3<Double>.zero)
        var best = (place: 2, value: Double.infinity)
        for k in 0..<n - 2 {
            if k >= 2 {
                let (before, after) = (Double(k), Double(n - k))
                let value =
                    before * logarithm(before, sum, square)
                    + (after - 1) * logarithm(after, sums - sum, squares - square)
                criterion[k] = value
                if value < best.value { best = (k, value) }
            }
            let a = SIMD3(x[k], y[k], z[k])
            sum += a
            square += a * a
        }
        var (weights, moments) = (0.0, 0.0)
        for k in 2..<n - 2 {
            let excess = (criterion[k] - best.value) / (2 * temperature)
            guard excess < 40 else { continue }
            let (weight, distance) = (exp(-excess), Double(k - best.place))
            weights += weight
            moments += weight * distance * distance
        }
        return (best.place, (moments / weights).squareRoot())
    }
}
