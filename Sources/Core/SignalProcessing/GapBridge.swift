/// Estimates the samples that are missing in a short gap, for the filters' sake alone: they are never published and
/// enter no maximum.
///
/// Each axis is an autoregressive process (Burg 1975), fitted to the seconds before the gap and to what is known behind
/// it; the missing samples are those that it finds most likely between their neighbours (Janssen, Veldhuis and Vries
/// 1986). How far the velocity may be off after the gap is measured: the same is done for stretches before the gap whose
/// samples are known.
public struct GapBridge: Sendable {
    /// The longest gap that is bridged, s.
    public static let longest = 2.0
    /// Longer gaps, s, are bridged, but little is known of the motion in them.
    private static let short = 0.25
    /// Missing samples for which the equations are solved; more are replaced by the level.
    private static let mostSolved = 1024
    /// Stretches before the gap that are tried.
    private static let trials = 16

    /// Samples behind a gap that are wanted before it is bridged.
    public let wanted: Int
    private let rate: Double
    private let order: Int
    private var ring: SampleRing
    /// Samples since the start or a gap that was not bridged.
    private var unbroken = 0

    /// Samples that the last call of ``fill(missing:after:count:)`` estimated: three planes of ``count`` samples, m/s².
    public private(set) var samples: [Double] = []
    public private(set) var count = 0
    /// How far the velocity of an axis may be off after the gap, m/s: three standard deviations, and a share of the motion
    /// itself; of the axis where that is most.
    public private(set) var velocityError = 0.0

    /// - Parameter rate: samples per second.
    public init(rate: Double) {
        self.rate = rate
        order = max(8, min(24, Int(0.24 * rate)))
        wanted = max(order, Int((0.2 * rate).rounded()))
        ring = SampleRing(capacity: max(256, min(4096, Int(4 * rate))))
    }

    /// Forgets all samples.
    public mutating func reset() {
        ring.reset()
        unbroken = 0
    }

    /// The next sample does not follow the last one, and has the same level.
    public mutating func interrupt() { unbroken = 0 }

    /// Goes on with the samples of another one of the same rate.
    public mutating func takeOver(_ old: GapBridge) { if rate == old.rate { self = old } }

    /// Takes `count` samples of three planes, m/s².
    public mutating func push(_ planes: UnsafePointer<Double>, stride: Int, count: Int) {
        ring.push(planes, planes + stride, planes + 2 * stride, count: count)
        unbroken += count
    }

    /// Samples that are known before the next one.
    private var known: Int { min(ring.pushed, ring.capacity) }

    /// Whether a gap of so many samples can be bridged: it is short, and a second is known before it.
    public func canBridge(_ missing: Int) -> Bool {
        missing > 0 && Double(missing) <= (Self.longest * rate).rounded()
            && unbroken >= max(2 * order, Int(rate.rounded()))
    }

    /// The mean of the last seconds, m/s², which is what does not move: gravity and the sensor's offset; and the seconds
    /// that it is of. Nil while less than a second is known.
    public var level: (x: Double, y: Double, z: Double, seconds: Double)? {
        guard known >= max(16, Int(rate.rounded())) else { return nil }
        let (x, y, z) = (mean(0), mean(1), mean(2))
        return (x, y, z, Double(known) / rate)
    }

    private func mean(_ axis: Int) -> Double {
        let all = history(axis)
        return all.reduce(0, +) / Double(max(1, all.count))
    }

    private func history(_ axis: Int) -> [Double] {
        [Double](unsafeUninitializedCapacity: known) { buffer, count in
            if let base = buffer.baseAddress { ring.copy(axis: axis, ring.pushed - known..<ring.pushed, to: base) }
            count = known
        }
    }

    /// Estimates the samples of a gap; see ``samples`` and ``velocityError``.
    /// - Parameters:
    ///   - after: the samples behind the gap, x, y, z of each one after the other, m/s².
    ///   - count: how many of them there are, at most ``wanted``.
    public mutating func fill(missing: Int, after: [Double], count known: Int) {
        count = missing
        samples = [Double](repeating: 0, count: 3 * missing)
        velocityError = 0
        for axis in 0..<3 {
            let mean = mean(axis)
            let before = history(axis).map { $0 - mean }
            let behind = (0..<known).map { after[3 * $0 + axis] - mean }
            let gap = AxisGap(before: before, after: behind, missing: missing, order: order)
            let size = gap.size(window: max(order, Int((0.5 * rate).rounded())))
            var error = size.largest * Double(missing) / rate
            if missing <= Self.mostSolved, let equations = gap.equations {
                let bridge = gap.solve(equations)
                for i in 0..<missing { samples[axis * missing + i] = mean + bridge[i] }
                if let tried = gap.trials(equations, Self.trials, spacing: rate / Double(Self.trials)) {
                    let share = Double(missing) <= Self.short * rate ? 0.1 : 0.5
                    error = 3 * tried * max(1, size.growth) / rate + share * error
                }
            } else {
                for i in 0..<missing { samples[axis * missing + i] = mean }
            }
            velocityError = max(velocityError, error)
        }
    }
}

/// The gap of one axis.
private struct AxisGap {
    let before: [Double]
    let after: [Double]
    let missing: Int
    /// 1, a₁ … of the autoregressive process, so that x + a₁ x₋₁ + … is noise.
    private var process: [Double] = []
    private var order: Int { process.count - 1 }

    /// - Parameters:
    ///   - before: the samples up to the gap, without their mean.
    ///   - after: those behind it.
    init(before: [Double], after: [Double], missing: Int, order: Int) {
        (self.before, self.after, self.missing) = (before, after, missing)
        process = Self.burg(after.count > 2 * order ? [before, after] : [before], order: order)
    }

    /// The autoregressive process that two stretches have in common, by Burg's recursion.
    private static func burg(_ stretches: [[Double]], order: Int) -> [Double] {
        var process = [1.0]
        var forward = stretches.map { Array($0.dropFirst()) }
        var backward = stretches.map { Array($0.dropLast()) }
        for _ in 0..<order {
            var (product, power) = (0.0, 0.0)
            for k in stretches.indices {
                for i in 0..<forward[k].count {
                    product += forward[k][i] * backward[k][i]
                    power += forward[k][i] * forward[k][i] + backward[k][i] * backward[k][i]
                }
            }
            // A motion without noise is predicted by fewer.
            guard power > 1e-30 else { break }
            let reflection = -2 * product / power
            let old = process + [0]
            process = (0..<old.count).map { old[$0] + reflection * old[old.count - 1 - $0] }
            for k in stretches.indices {
                let n = forward[k].count
                guard n > 1 else { continue }
                var (next, last) = ([Double](repeating: 0, count: n - 1), [Double](repeating: 0, count: n - 1))
                for i in 0..<n - 1 {
                    next[i] = forward[k][i + 1] + reflection * backward[k][i + 1]
                    last[i] = backward[k][i] + reflection * forward[k][i]
                }
                (forward[k], backward[k]) = (next, last)
            }
        }
        return process
    }

    /// The normal equations of the missing samples, as Cholesky's lower bands: row i has the columns i − order … i.
    /// Nil where they cannot be solved.
    var equations: [Double]? {
        for share in [1e-12, 1e-9, 1e-6] { if let found = factor(regularisation: share) { return found } }
        return nil
    }

    private func factor(regularisation: Double) -> [Double]? {
        let (n, p, width) = (missing, order, order + 1)
        var full = [Double](repeating: 0, count: width)
        for lag in 0...p { for k in lag...p { full[lag] += process[k] * process[k - lag] } }
        var bands = [Double](repeating: 0, count: n * width)
        for i in 0..<n {
            for lag in 0...min(p, i) {
                var sum = full[lag]
                // The equation of a sample that is not known yet is not there.
                let last = n + after.count - 1 - i
                if last < p {
                    sum = 0
                    var k = 0
                    while k <= last, k + lag <= p {
                        sum += process[k] * process[k + lag]
                        k += 1
                    }
                }
                bands[i * width + p - lag] = sum + (lag == 0 ? regularisation * full[0] : 0)
            }
            // Cholesky, row by row.
            for j in max(0, i - p)...i {
                var sum = bands[i * width + p - (i - j)]
                for k in max(0, i - p)..<max(j, max(0, i - p)) where j - k <= p {
                    sum -= bands[i * width + p - (i - k)] * bands[j * width + p - (j - k)]
                }
                if i == j {
                    guard sum > 0 else { return nil }
                    bands[i * width + p] = sum.squareRoot()
                } else {
                    bands[i * width + p - (i - j)] = sum / bands[j * width + p]
                }
            }
        }
        return bands
    }

    /// The missing samples.
    func solve(_ equations: [Double]) -> [Double] {
        solve(equations, before.suffix(order), after)
    }

    /// - Parameters:
    ///   - head: the samples before, at least as many as the process has terms.
    ///   - tail: those behind.
    private func solve(_ equations: [Double], _ head: ArraySlice<Double>, _ tail: [Double]) -> [Double] {
        let (n, p, width) = (missing, order, order + 1)
        var known = Array(head.suffix(p))
        known += [Double](repeating: 0, count: n)
        known += tail.prefix(p)
        // What noise there would be if all missing samples were zero.
        var noise = [Double](repeating: 0, count: n + min(p, tail.count))
        for t in noise.indices {
            var sum = 0.0
            for k in 0...p { sum += process[k] * known[p + t - k] }
            noise[t] = sum
        }
        var x = [Double](repeating: 0, count: n)
        for i in 0..<n {
            var sum = 0.0
            for k in 0...p where i + k < noise.count { sum -= process[k] * noise[i + k] }
            for k in max(0, i - p)..<i { sum -= equations[i * width + p - (i - k)] * x[k] }
            x[i] = sum / equations[i * width + p]
        }
        for i in stride(from: n - 1, through: 0, by: -1) {
            var sum = x[i]
            for k in i + 1..<max(i + 1, min(n, i + p + 1)) { sum -= equations[k * width + p - (k - i)] * x[k] }
            x[i] = sum / equations[i * width + p]
        }
        return x
    }

    /// Root mean square of what the sum of the missing samples would be off, had the gap been earlier; nil where too little
    /// is known for three trials.
    func trials(_ equations: [Double], _ most: Int, spacing: Double) -> Double? {
        let room = before.count - after.count - missing - 2 * order
        guard room > 0 else { return nil }
        let step = min(Double(room) / Double(most), max(Double(missing) / 2, spacing))
        var (squares, count) = (0.0, 0)
        for trial in 0..<most {
            let end = before.count - after.count - Int(Double(trial) * step)
            let start = end - missing
            guard start >= order else { break }
            let guess = solve(equations, before[..<start], Array(before[end..<end + after.count]))
            var error = 0.0
            for i in 0..<missing { error += guess[i] - before[start + i] }
            squares += error * error
            count += 1
        }
        return count < 3 ? nil : (squares / Double(count)).squareRoot()
    }

    /// Root mean square of the motion beside the gap, on the side where it is larger, m/s²; and how many times that of the
    /// last seconds it is behind the gap.
    func size(window: Int) -> (largest: Double, growth: Double) {
        func rms(_ part: ArraySlice<Double>) -> Double {
            guard !part.isEmpty else { return 0 }
            return (part.reduce(0) { $0 + $1 * $1 } / Double(part.count)).squareRoot()
        }
        let (near, behind) = (rms(before.suffix(window)), rms(after[...]))
        let past = rms(before.suffix(4 * window))
        return (max(near, behind), past > 0 ? behind / past : behind > 0 ? .infinity : 1)
    }
}
