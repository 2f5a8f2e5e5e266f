import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Response spectrum of the horizontals, 5 % damped: of oscillators with some periods, the largest |displacement| times ω²
/// (pseudo-spectral acceleration, m/s²). From rest, exact for acceleration that is linear between the samples (Nigam and
/// Jennings, Calculation of response spectra from strong-motion earthquake records, Bull. Seism. Soc. Am. 59, 1969; Chopra,
/// Dynamics of Structures, table 5.2.1).
///
/// Straight lines take a third of the motion away where a period has few samples, and the largest displacement lies between
/// them. Up to 125 samples a second, periods of fewer than 40 samples therefore get finer ones between them, by band-limited
/// interpolation.
public struct ResponseSpectrum: Sendable {
    /// Seconds.
    public static let periods = [0.1, 0.2, 0.3, 0.5, 1, 2, 3]
    public static let damping = 0.05
    /// Up to so many samples a second, finer samples are interpolated: at least so many a second.
    private static let (slow, fine) = (125.0, 500.0)
    /// Samples of a period from which on straight lines between them are good enough.
    private static let enough = 40.0

    /// Periods that get the finer samples: the first ones.
    private let short: Int
    /// For each period: A, B, C, D and A', B', C', D' of the recurrence.
    private let coefficients: [Double]
    /// For each period: displacement and velocity of x and of y (m, m/s), and the largest |displacement| of each (m).
    private var state: [Double]
    /// Last sample of the short periods, and of the others.
    private var last = Sample()
    private var lastFine = Sample()
    private var hasLast = false
    private var interpolation: Interpolation?

    private struct Sample: Sendable {
        var x = 0.0
        var y = 0.0
    }

    /// - Parameter rate: samples per second.
    public init(rate: Double) {
        let short = rate > Self.slow ? 0 : Self.periods.prefix { $0 * rate < Self.enough }.count
        self.short = short
        interpolation = short == 0 ? nil : Interpolation(factor: Int((Self.fine / rate).rounded(.up)))
        let finer = rate * Double(interpolation?.factor ?? 1)
        var all: [Double] = []
        for (k, period) in Self.periods.enumerated() {
            all += Self.recurrence(period, interval: 1 / (k < short ? finer : rate))
        }
        coefficients = all
        state = [Double](repeating: 0, count: 6 * Self.periods.count)
    }

    private static func recurrence(_ period: Double, interval dt: Double) -> [Double] {
        let (z, w) = (damping, 2 * Double.pi / period)
        let root = (1 - z * z).squareRoot()
        let (damped, decay) = (w * root, exp(-z * w * dt))
        let (s, c) = (decay * sin(damped * dt), decay * cos(damped * dt))
        let (k, twice) = (w * w, 2 * z / (w * dt))
        return [
            z / root * s + c, s / damped,
            (twice + ((1 - 2 * z * z) / (damped * dt) - z / root) * s - (1 + twice) * c) / k,
            (1 - twice + (2 * z * z - 1) / (damped * dt) * s + twice * c) / k,
            -w / root * s, c - z / root * s,
            (-1 / dt + (w / root + z / (dt * root)) * s + c / dt) / k, (1 - z / root * s - c) / (k * dt),
        ]
    }

    /// The next sample does not follow the last: all comes to rest.
    public mutating func gap() {
        finishInterpolation()
        hasLast = false
        for k in Self.periods.indices { for i in 0..<4 { state[6 * k + i] = 0 } }
    }

    /// Takes the accelerations of a sample, m/s².
    public mutating func add(_ x: Double, _ y: Double) {
        let next = Sample(x: x, y: y)
        if hasLast { move(short..<Self.periods.count, last, next) }
        (last, hasLast) = (next, true)
        if interpolation != nil { interpolate(x, y) }
    }

    /// Lets the short periods have what a sample makes known.
    private mutating func interpolate(_ x: Double, _ y: Double) {
        let factor = interpolation?.factor ?? 0
        guard interpolation?.push(x, y) == true else { return }
        for phase in 0..<factor {
            let (fx, fy) = interpolation?.value(phase) ?? (0, 0)
            let next = Sample(x: fx, y: fy)
            if interpolation?.isFirst == false { move(0..<short, lastFine, next) }
            interpolation?.isFirst = false
            lastFine = next
        }
    }

    /// Lets the short periods have the last samples, as if the last of them went on.
    private mutating func finishInterpolation() {
        guard hasLast, interpolation != nil else { return }
        for _ in 0..<Interpolation.half { interpolate(last.x, last.y) }
        interpolation?.restart()
    }

    /// Moves oscillators from one sample to the next.
    private mutating func move(_ range: Range<Int>, _ last: Sample, _ next: Sample) {
        let (x, y) = (next.x, next.y)
        coefficients.withUnsafeBufferPointer { c in
            state.withUnsafeMutableBufferPointer { s in
                for k in range {
                    let (a, o) = (8 * k, 6 * k)
                    let (ux, vx, uy, vy) = (s[o], s[o + 1], s[o + 2], s[o + 3])
                    s[o] = c[a] * ux + c[a + 1] * vx - c[a + 2] * last.x - c[a + 3] * x
                    s[o + 1] = c[a + 4] * ux + c[a + 5] * vx - c[a + 6] * last.x - c[a + 7] * x
                    s[o + 2] = c[a] * uy + c[a + 1] * vy - c[a + 2] * last.y - c[a + 3] * y
                    s[o + 3] = c[a + 4] * uy + c[a + 5] * vy - c[a + 6] * last.y - c[a + 7] * y
                    s[o + 4] = max(s[o + 4], abs(s[o]))
                    s[o + 5] = max(s[o + 5], abs(s[o + 2]))
                }
            }
        }
    }

    /// Values at each period, m/s²: x, y and their geometric mean.
    public var values: (x: [Double], y: [Double], mean: [Double]) {
        var whole = self
        whole.finishInterpolation()
        var all: (x: [Double], y: [Double], mean: [Double]) = ([], [], [])
        all.x.reserveCapacity(Self.periods.count)
        all.y.reserveCapacity(Self.periods.count)
        all.mean.reserveCapacity(Self.periods.count)
        for (k, period) in Self.periods.enumerated() {
            let w = 2 * Double.pi / period
            let (x, y) = (w * w * whole.state[6 * k + 4], w * w * whole.state[6 * k + 5])
            all.x.append(x)
            all.y.append(y)
            all.mean.append((x * y).squareRoot())
        }
        return all
    }
}

/// Band-limited interpolation of two signals: a sine cardinal below Kaiser's window (β 6) of 24 samples, which leaves what is
/// below 0.4 of the rate as it is, and takes its images away. Before its first sample a signal is as that sample.
private struct Interpolation: Sendable {
    /// Samples on each side that count.
    static let half = 12
    /// Samples become so many times as many.
    let factor: Int
    /// Weights of the samples, oldest first, of four phases at once.
    private let weights: [SIMD4<Double>]
    /// Values between the samples in the middle: x and y of four phases, then of the next four.
    private var between: [SIMD4<Double>]
    /// The last samples of x and of y, each twice, so that they lie one after the other wherever the newest is.
    private var samples: [Double]
    private var place = 0
    /// Samples since the start.
    private var taken = 0
    /// Whether nothing has been interpolated since the start.
    var isFirst = true

    init(factor: Int) {
        self.factor = factor
        let width = 2 * Self.half
        let kernel = KaiserSinc(half: Self.half, beta: 6)
        let groups = (factor + 3) / 4
        var all = [SIMD4<Double>](repeating: .zero, count: groups * width)
        for phase in 0..<factor {
            // The value lies so far behind the sample in the middle, which has `half` newer ones.
            let shift = Double(phase) / Double(factor)
            var sum = 0.0
            for k in 0..<width {
                let weight = kernel.weight(at: Double(k - Self.half + 1) - shift)
                all[phase / 4 * width + k][phase % 4] = weight
                sum += weight
            }
            // A constant signal stays as it is.
            for k in 0..<width { all[phase / 4 * width + k][phase % 4] /= sum }
        }
        weights = all
        between = [SIMD4<Double>](repeating: .zero, count: 2 * groups)
        samples = [Double](repeating: 0, count: 4 * width)
    }

    mutating func restart() { (place, taken, isFirst) = (0, 0, true) }

    /// Takes a sample; true when there are values to be had.
    mutating func push(_ x: Double, _ y: Double) -> Bool {
        let width = 2 * Self.half
        if taken == 0 {
            for k in 0..<2 * width { (samples[k], samples[2 * width + k]) = (x, y) }
        }
        (samples[place], samples[place + width]) = (x, x)
        (samples[2 * width + place], samples[3 * width + place]) = (y, y)
        place = (place + 1) % width
        taken += 1
        guard taken > Self.half else { return false }
        sum()
        return true
    }

    /// (A phase's sum takes 24 additions, each of which waits for the last: four phases wait at once.)
    private mutating func sum() {
        let (width, place) = (2 * Self.half, place)
        weights.withUnsafeBufferPointer { w in
            samples.withUnsafeBufferPointer { s in
                for group in 0..<w.count / width {
                    var (x, y) = (SIMD4<Double>.zero, SIMD4<Double>.zero)
                    for k in 0..<width {
                        x += w[group * width + k] * s[place + k]
                        y += w[group * width + k] * s[2 * width + place + k]
                    }
                    (between[2 * group], between[2 * group + 1]) = (x, y)
                }
            }
        }
    }

    /// The values at a phase behind the sample in the middle.
    func value(_ phase: Int) -> (x: Double, y: Double) {
        (between[phase / 4 * 2][phase % 4], between[phase / 4 * 2 + 1][phase % 4])
    }
}
