#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Values of three series between their samples, at any place: a windowed sinc with Kaiser's window (β 10), its
/// coefficients interpolated from a table of 256 to a sample, their sum made 1 so that gravity passes as it is.
///
/// Up to 0.8 of the lower of the two Nyquist frequencies the result is within 3·10⁻⁵ (−90 dB) of the true value; up to
/// there nothing is aliased from above 1.2 of it. Between 0.8 and 1.2 the filter falls. It has no delay: a value needs
/// ``reach`` samples after it. What lies before the first and after the last sample is taken to be as these.
public struct Resampler: Sendable {
    /// Samples that are needed on either side of a value.
    public let reach: Int
    /// Samples pushed since the start or the last ``reset()``.
    public private(set) var count = 0

    /// Half of the filter from its middle on, `resolution` to a unit of the table.
    private let table: [Double]
    /// Units of the table to a sample: 1, less where the output is slower than the input.
    private let scale: Double
    /// The last samples of x, y, z, a capacity apart.
    private var samples: [Double]
    private let capacity: Int
    /// Samples that stay when room is made.
    private let rest: Int
    /// Number of the first sample kept, and how many are.
    private var first = 0
    private var kept = 0

    private static let resolution = 256
    private static let halfLength = 16
    private static let beta = 10.0
    /// Largest ratio of the input's rate to the output's.
    public static let largestRatio = 64.0

    /// - Parameters:
    ///   - ratio: samples of the input to one of the output, limited to 1/64 to 64.
    ///   - chunk: samples that are pushed at most before the values between them are taken.
    public init(ratio: Double, chunk: Int) {
        scale = 1 / min(max(1, ratio), Self.largestRatio)
        reach = Int((Double(Self.halfLength) / scale).rounded(.up))
        rest = 2 * reach + max(1, chunk) + 1
        capacity = 2 * rest
        samples = [Double](repeating: 0, count: 3 * capacity)
        let last = Self.halfLength * Self.resolution
        let kernel = KaiserSinc(half: Self.halfLength, beta: Self.beta)
        // One more than the last, for the interpolation.
        var table = [Double](repeating: 0, count: last + 2)
        for i in 0...last { table[i] = kernel.weight(at: Double(i) / Double(Self.resolution)) }
        self.table = table
    }

    /// Forgets all samples; the next one has the number 0.
    public mutating func reset() { (count, first, kept) = (0, 0, 0) }

    /// The next sample. It stays until a chunk and twice the reach have followed.
    public mutating func push(_ x: Double, _ y: Double, _ z: Double) {
        if kept == capacity {
            let drop = kept - rest
            for axis in 0..<3 {
                for i in 0..<rest { samples[axis * capacity + i] = samples[axis * capacity + drop + i] }
            }
            first += drop
            kept = rest
        }
        samples[kept] = x
        samples[capacity + kept] = y
        samples[2 * capacity + kept] = z
        kept += 1
        count += 1
    }

    /// The value at a place: a sample's number and a part of the way to the next one. Exact where it is at least
    /// ``reach`` samples from the first and the last.
    public func value(at index: Int, _ fraction: Double) -> (x: Double, y: Double, z: Double) {
        guard kept > 0 else { return (0, 0, 0) }
        var (x, y, z, sum) = (0.0, 0.0, 0.0, 0.0)
        let step = Double(Self.resolution) * scale
        let last = kept - 1
        table.withUnsafeBufferPointer { table in
            samples.withUnsafeBufferPointer { samples in
                for k in (1 - reach)...reach {
                    let distance = abs(Double(k) - fraction) * step
                    let place = Int(distance)
                    guard place < table.count - 1 else { continue }
                    let part = distance - Double(place)
                    let weight = table[place] + part * (table[place + 1] - table[place])
                    let i = min(max(index + k - first, 0), last)
                    x += weight * samples[i]
                    y += weight * samples[capacity + i]
                    z += weight * samples[2 * capacity + i]
                    sum += weight
                }
            }
        }
        return (x / sum, y / sum, z / sum)
    }
}

/// Moments at a rate, counted from a whole second of UTC. At a whole number per second every second has one.
public struct TimeGrid: Sendable, Equatable {
    /// A whole second, ns.
    private let origin: Int64
    private let rate: Double
    /// The rate where it is a whole number, so that nothing is rounded but the nanosecond.
    private let whole: Int64

    /// - Parameters:
    ///   - time: some time near, ns of UTC; the grid begins with its second.
    ///   - rate: per second, more than 0.
    public init(near time: Int64, rate: Double) {
        let second = time / 1_000_000_000
        origin = (time < 0 && second * 1_000_000_000 != time ? second - 1 : second) * 1_000_000_000
        self.rate = rate
        whole = rate == rate.rounded() && rate < 1e9 ? Int64(rate) : 0
    }

    /// Time of a place of the grid, ns of UTC, rounded to the nearest.
    public func time(_ index: Int) -> Int64 {
        if whole > 0 {
            let (seconds, rest) = Int64(index).quotientAndRemainder(dividingBy: whole)
            return origin + seconds * 1_000_000_000 + (rest * 1_000_000_000 + whole / 2) / whole
        }
        return origin + Int64((Double(index) * 1e9 / rate).rounded())
    }

    /// The first place at or after a time.
    public func index(from time: Int64) -> Int {
        var index = Int((Double(time - origin) * rate / 1e9).rounded(.down)) - 1
        while self.time(index) < time { index += 1 }
        return index
    }
}

/// A sine cardinal below Kaiser's window: weights of samples for a value between them.
public struct KaiserSinc: Sendable {
    /// Samples on each side that count.
    private let half: Double
    private let beta: Double
    private let full: Double

    /// - Parameters:
    ///   - half: samples on each side that count.
    ///   - beta: of the window; larger ones have less ripple and a wider transition.
    public init(half: Int, beta: Double) { (self.half, self.beta, full) = (Double(half), beta, bessel0(beta)) }

    /// The weight of a sample that is so many samples away: 1 at 0.
    public func weight(at distance: Double) -> Double {
        let position = distance / half
        let angle = Double.pi * distance
        let window = bessel0(beta * max(0, 1 - position * position).squareRoot()) / full
        return (distance == 0 ? 1 : sin(angle) / angle) * window
    }
}

/// Modified Bessel function I₀ by its power series.
func bessel0(_ x: Double) -> Double {
    let y = x * x / 4
    var term = 1.0
    var sum = 1.0
    var k = 1.0
    while term > sum * 1e-17 {
        term *= y / (k * k)
        sum += term
        k += 1
    }
    return sum
}
