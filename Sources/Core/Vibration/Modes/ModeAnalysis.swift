import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A natural mode of a structure as its ambient vibration shows it.
public struct StructureMode: Sendable, Equatable {
    /// Hz.
    public var frequency: Double
    /// Share of critical damping.
    public var damping: Double
    /// Motion of x, y and z in phase with the largest, which is 1.
    public var shape: [Double]
    /// How far the first singular value stands out of its surroundings, dB.
    public var prominence: Double
    /// Whether the second opinion, peak picking, finds it as well; nil: not known.
    public var isPicked: Bool?
    /// Under which it is followed from period to period (see ``FollowedModes``); nil: it is not.
    public var id: Int?

    public init(frequency: Double, damping: Double, shape: [Double], prominence: Double) {
        (self.frequency, self.damping, self.shape, self.prominence) = (frequency, damping, shape, prominence)
    }
}

/// Modes by subspace identification (see `ModeSearch`), with a second opinion: frequency domain decomposition (Brincker, Zhang and Andersen, Modal identification of output-only systems using
/// frequency domain decomposition, Smart Materials and Structures 10, 2001), damping by its enhanced form (Brincker, Ventura
/// and Andersen, Damping estimation by frequency domain decomposition, IMAC XIX, 2001).
///
/// The cross-spectral matrix of the three axes is averaged over segments (Hann, half overlap); where its first singular
/// value has a peak far above its surroundings, there is a mode, and the singular vector is its shape. The bell around the
/// peak, along that shape, is transformed back to a correlation, whose envelope decays by the damping and whose phase turns
/// with the frequency. The window multiplies a correlation by its own, which is divided out: else it would add damping.
public struct ModeAnalysis: Sendable {
    /// Hz: of the spectra. (Half of it takes twice the memory, and finds the same.)
    public static let resolution = 0.025
    /// A peak that stands out by less is not picked: of noise alone none of 1600 lines in 40 averages does by 6 dB. (Modes whose
    /// frequency times damping is above 0.2 Hz are broader than their surroundings, and have none.)
    static let leastProminence = 9.0

    /// Segments without which there is nothing to average.
    public static let leastSegments = 16

    private let rate: Double
    private let length: Int
    private let lines: Int

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - top: Hz; the highest mode, at most 0.4 of the rate.
    public init(rate: Double, top: Double) {
        self.rate = rate
        length = Self.length(rate: rate)
        lines = Int(min(top, 0.4 * rate) / rate * Double(length)) + 1
    }

    /// Samples of a segment, an even number.
    static func length(rate: Double) -> Int {
        var length = FourierPlan.length(atLeast: Int((rate / Self.resolution).rounded(.up)))
        while length % 2 != 0 { length = FourierPlan.length(atLeast: length + 1) }
        return length
    }

    /// Samples of a half segment: what ``CrossSpectra/add(_:)`` takes.
    public static func half(rate: Double) -> Int { length(rate: rate) / 2 }

    /// Samples without which there is nothing to average.
    public var least: Int { length / 2 * (Self.leastSegments + 1) }

    /// An empty sum of spectra.
    public var spectra: CrossSpectra { CrossSpectra(length: length, lines: lines) }

    /// The modes of x, y and z, each as many samples, from the lowest on; none of fewer samples than ``least``.
    public func modes(_ axes: [[Double]]) -> [StructureMode] {
        guard axes.count == 3, axes.allSatisfy({ $0.count == axes[0].count }) else { return [] }
        var spectra = self.spectra
        for start in stride(from: 0, through: axes[0].count - length / 2, by: length / 2) {
            spectra.add(axes.flatMap { $0[start..<start + length / 2].map { Float($0) } })
        }
        return modes(spectra)
    }

    /// The modes of what has been added up by ``spectra``, from the lowest on; none of fewer than ``leastSegments``.
    public func modes(_ spectra: CrossSpectra) -> [StructureMode] {
        guard spectra.segments >= Self.leastSegments, spectra.sum.count == lines else { return [] }
        let values = spectra.sum.map { Self.first($0).value }
        let floor = surroundings(values)
        let prominence = (0..<lines).map { 10 * log10(max(values[$0], 1e-300) / max(floor[$0], 1e-300)) }
        let step = rate / Double(length)
        let picked = peaks(spectra.sum, prominence, floor)
        return ModeSearch(spectra, step: step).modes().map { found in
            let line = min(lines - 1, max(0, Int((found.frequency / step).rounded())))
            var mode = StructureMode(
                frequency: found.frequency, damping: found.damping, shape: Self.shape(found.shape),
                prominence: prominence[max(0, line - 1)...min(lines - 1, line + 1)].max() ?? 0)
            mode.isPicked = picked.contains { abs($0.frequency / mode.frequency - 1) < 0.02 }
            return mode
        }
    }

    /// The modes that peak picking finds.
    private func peaks(_ spectrum: [CrossSpectra.Matrix], _ prominence: [Double], _ floor: [Double]) -> [StructureMode]
    {
        let step = rate / Double(length)
        // From the one that stands out most; what lies within the bell of another is that.
        func value(_ k: Int) -> Double { prominence[k] + 10 * log10(max(floor[k], 1e-300)) }
        let peaks = (1..<lines - 1).filter { k in
            let (value, left, right) = (value(k), value(k - 1), value(k + 1))
            let isHighest = value > left && value >= right
            return isHighest && Double(k) * step > 0.2 && prominence[k] >= Self.leastProminence
        }
        let order = peaks.sorted { prominence[$0] > prominence[$1] }
        var taken = [Bool](repeating: false, count: lines)
        var found: [StructureMode] = []
        for k in order where !taken[k] {
            let shape = Self.first(spectrum[k]).vector
            let bell = bell(around: k, shape, spectrum, floor[k])
            let isFree = !taken[bell.range.lowerBound] && !taken[bell.range.upperBound]
            for line in bell.range { taken[line] = true }
            guard isFree, bell.range.count >= 3, let (frequency, damping) = decay(bell, near: Double(k) * step) else {
                continue
            }
            found.append(
                StructureMode(
                    frequency: frequency, damping: damping, shape: Self.shape(shape),
                    prominence: prominence[k]))
        }
        return found.sorted { $0.frequency < $1.frequency }
    }

    // MARK: Spectra

    /// The first singular value of a line and its vector, of length 1, by iteration.
    private static func first(_ matrix: CrossSpectra.Matrix) -> (value: Double, vector: CrossSpectra.Vector) {
        // Begins with the axis that moves most, a little of the others besides.
        let scale = matrix.diagonal.squareRoot()
        var (value, vector) = (
            0.0, CrossSpectra.Vector(re: SIMD3(1, 0.9, 0.8) * scale, im: SIMD3(0, 0.1, -0.1) * scale)
        )
        for _ in 0..<60 {
            let next = matrix.times(vector)
            let size = next.power.squareRoot()
            guard size > 0 else { break }
            (value, vector) = (size, next * (1 / size))
        }
        return (value, vector)
    }

    /// The median of the values within a hertz, and at most half of the frequency, of each line.
    private func surroundings(_ values: [Double]) -> [Double] {
        let most = Int((Double(length) / rate).rounded(.up))
        return (0..<lines).map { k in
            let reach = max(8, min(most, k / 2))
            let around = values[max(1, k - reach)...min(lines - 1, k + reach)].sorted()
            return around[around.count / 2]
        }
    }

    // MARK: One mode

    private struct Bell {
        var range: ClosedRange<Int>
        /// Along the shape, without the noise beside it.
        var power: [Double]
    }

    private func bell(
        around k: Int, _ shape: CrossSpectra.Vector, _ spectrum: [CrossSpectra.Matrix], _ noise: Double
    ) -> Bell {
        func power(_ line: Int) -> Double { shape.product(spectrum[line].times(shape)).re }
        func likeness(_ line: Int) -> Double {
            let (re, im) = shape.product(Self.first(spectrum[line]).vector)
            return re * re + im * im
        }
        let limit = max(2 * noise, 0.01 * power(k))
        var (low, high) = (k, k)
        while low > 1, likeness(low - 1) > 0.8, power(low - 1) > limit { low -= 1 }
        while high < lines - 2, likeness(high + 1) > 0.8, power(high + 1) > limit { high += 1 }
        return Bell(range: low...high, power: (low...high).map { max(0, power($0) - noise) })
    }

    /// Frequency and damping of the correlation that a bell stands for; nil where it does not decay.
    private func decay(_ bell: Bell, near peak: Double) -> (frequency: Double, damping: Double)? {
        let (n, w) = (Double(length), 2 * Double.pi * peak)
        // (Lags of a quarter of a period; up to a third of the segment the window's own correlation is known well.)
        let lag = 0.25 / peak
        let most = min(2000, Int(n / rate / 3 / lag))
        var points: [(t: Double, size: Double, phase: Double)] = []
        var (first, turned, last) = (0.0, 0.0, 0.0)
        for j in 0..<most {
            let t = Double(j) * lag
            var (re, im) = (0.0, 0.0)
            for (line, power) in zip(bell.range, bell.power) {
                let angle = (2 * Double.pi * Double(line) * rate / n - w) * t
                re += power * cos(angle)
                im += power * sin(angle)
            }
            let size = (re * re + im * im).squareRoot() / Self.window(t * rate / n)
            if j == 0 { first = size }
            let phase = atan2(im, re)
            if j > 0 { turned += (phase - last) - 2 * Double.pi * ((phase - last) / (2 * Double.pi)).rounded() }
            last = phase
            guard size > 0.25 * first else { break }
            if size < 0.95 * first || j > 40 { points.append((t, log(size), turned)) }
        }
        guard points.count >= 8 else { return nil }
        let count = Double(points.count)
        let middle = points.reduce(0) { $0 + $1.t } / count
        let spread = points.reduce(0) { $0 + ($1.t - middle) * ($1.t - middle) }
        let slope = -points.reduce(0) { $0 + ($1.t - middle) * $1.size } / spread
        let turn = points.reduce(0) { $0 + ($1.t - middle) * $1.phase } / spread
        guard slope > 0 else { return nil }
        let damped = w + turn
        let natural = (damped * damped + slope * slope).squareRoot()
        return (natural / (2 * Double.pi), slope / natural)
    }

    /// Correlation of the Hann window with itself, 1 at 0, at a lag of a share of its length.
    static func window(_ share: Double) -> Double {
        let x = 2 * Double.pi * share
        return (1 - share) * (2 / 3.0 + cos(x) / 3) + sin(x) / (2 * Double.pi)
    }

    /// The motion of each axis in phase with the largest, which is 1.
    private static func shape(_ vector: CrossSpectra.Vector) -> [Double] {
        let sizes = vector.re * vector.re + vector.im * vector.im
        let largest = (0..<3).max { sizes[$0] < sizes[$1] } ?? 0
        let inPhase = vector.re * vector.re[largest] + vector.im * vector.im[largest]
        return (0..<3).map { inPhase[$0] / max(sizes[largest], 1e-300) }
    }
}
