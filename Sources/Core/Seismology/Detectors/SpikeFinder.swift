/// Finds spikes of a single sample, as a bad cable, a supply or a bus makes them, on three axes.
///
/// A sample is a spike where it stands out of the middle between its neighbours by more than ``factor`` times what
/// samples do on average (mean absolute value of this second difference over the last second), while the sample after it
/// and the two before it lie on one line with each other. Motion of the ground is not like that: it needs several
/// samples to rise and to return. So a spike is known one sample after it; it is taken out of what later ones
/// are compared with.
///
/// The first swing of shaking may look like one. A spike is lone when nothing as large as an eighth of it has followed within
/// 0.1 s.
public struct SpikeFinder: Sendable {
    /// Factor on the mean absolute value: for a normal distribution 8 of them are 6.4 standard deviations.
    private static let factor = 8.0
    /// How far the neighbours may lie apart: this share of the spike, or what noise explains.
    private static let (share, noise) = (1.0 / 8, 5.0)
    /// Seconds after which a spike is known to be lone.
    static let loneliness = 0.1

    private var x: Axis
    private var y: Axis
    private var z: Axis

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - least: smaller spikes do not count, m/s².
    public init(rate: Double, least: Double) {
        let axis = Axis(
            least: least, second: max(4, Int(rate.rounded())), alone: max(4, Int((Self.loneliness * rate).rounded())))
        (x, y, z) = (axis, axis, axis)
    }

    /// How high a spike is, m/s², that alone makes up a quarter of a threshold of the RMS over a window: no filter here gives
    /// out more energy than it takes in.
    public static func least(threshold: Double, window: Int) -> Double {
        threshold * Double(window).squareRoot() / 4
    }

    /// Forgets all samples.
    public mutating func reset() {
        x.reset()
        y.reset()
        z.reset()
    }

    /// Goes on from another one that takes spikes of the same height; begins anew where it does not.
    public mutating func takeOver(_ old: SpikeFinder) { if old.x.least == x.least { self = old } }

    /// Writes, at the sample after each spike, its height (m/s²) into the plane of its axis, and 0 at all other samples.
    ///
    /// - Parameters:
    ///   - raw: three planes, `stride` apart; `spikes` likewise.
    ///   - lone: one plane: at the sample at which a spike is known to be lone, the height of the largest.
    /// - Returns: whether there is a spike, and whether there is a lone one; where there is none nothing has been written.
    public mutating func process(
        _ raw: UnsafePointer<Double>, _ spikes: UnsafeMutablePointer<Double>, stride: Int, count: Int,
        lone: UnsafeMutablePointer<Double>
    ) -> (spike: Bool, lone: Bool) {
        var (x, y, z, any, anyLone) = (x, y, z, false, false)
        for i in 0..<count {
            let (a, b, c) = (x.step(raw[i]), y.step(raw[stride + i]), z.step(raw[2 * stride + i]))
            if x.lone != 0 || y.lone != 0 || z.lone != 0 {
                if !anyLone { lone.update(repeating: 0, count: count) }
                anyLone = true
                lone[i] = max(x.takeLone(), y.takeLone(), z.takeLone())
            }
            guard a != 0 || b != 0 || c != 0 else { continue }
            if !any { for axis in 0..<3 { (spikes + axis * stride).update(repeating: 0, count: count) } }
            any = true
            (spikes[i], spikes[stride + i], spikes[2 * stride + i]) = (a, b, c)
        }
        (self.x, self.y, self.z) = (x, y, z)
        return (any, anyLone)
    }

    private struct Axis: Sendable {
        let least: Double
        /// Samples of a second.
        let second: Int
        /// The last two samples, without spikes, and the one before them as it was.
        private var last = 0.0
        private var before = 0.0
        private var earlier = 0.0
        /// The last sample as it was.
        private var raw = 0.0
        private var rawBefore = 0.0
        /// Mean absolute second difference, and the newest one, which is not in it yet.
        private var mean = 0.0
        private var waiting = 0.0
        private var seen = 0
        /// Samples after which a spike is lone.
        let alone: Int
        /// The largest spike of late that may be lone, and samples until it is; height of one that has been found to be.
        private var candidate = 0.0
        private var left = 0
        private(set) var lone = 0.0

        init(least: Double, second: Int, alone: Int) { (self.least, self.second, self.alone) = (least, second, alone) }

        mutating func reset() { self = Axis(least: least, second: second, alone: alone) }

        mutating func takeLone() -> Double {
            defer { lone = 0 }
            return lone
        }

        /// The height of the sample before this one where that was a spike, else 0.
        @inline(__always)
        mutating func step(_ new: Double) -> Double {
            let difference = last - (before + new) / 2
            let size = abs(difference)
            if seen < second { return begin(new, size) }
            if size > least, size > SpikeFinder.factor * mean, isAlone(new, size) {
                (candidate, left) = (max(candidate, size), alone)
                (waiting, last) = (mean, (before + new) / 2)
                shift(new)
                return difference
            }
            if candidate != 0 { look() }
            // The floor keeps it from becoming a denormal number where nothing moves at all.
            mean = max(mean + (waiting - mean) / Double(second), 1e-9)
            waiting = size
            shift(new)
            return 0
        }

        @inline(__always)
        private mutating func shift(_ new: Double) {
            (before, last) = (last, new)
            (earlier, rawBefore, raw) = (rawBefore, raw, new)
        }

        /// Whether the newest difference, which no spike has made, leaves the candidate one.
        private mutating func look() {
            left -= 1
            if waiting > candidate * SpikeFinder.share {
                candidate = 0
            } else if left == 0 {
                (lone, candidate) = (candidate, 0)
            }
        }

        /// The first second.
        private mutating func begin(_ new: Double, _ size: Double) -> Double {
            if seen >= 3 { mean += (waiting - mean) / Double(seen - 2) }
            waiting = seen >= 2 ? size : 0
            seen += 1
            shift(new)
            return 0
        }

        private func isAlone(_ new: Double, _ size: Double) -> Bool {
            let limit = max(size * SpikeFinder.share, SpikeFinder.noise * mean)
            return abs(new - before) <= limit && abs(before - earlier) <= limit
        }
    }
}
