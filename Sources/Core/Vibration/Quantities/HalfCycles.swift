/// The half cycles of the velocity of one axis in an interval: from zero crossing to zero crossing, with the largest |v|
/// between them, its time, and its frequency, 1/(2 Δt) (DIN 45669-1, ISO 4866). The largest of all is the peak particle
/// velocity. Each is held against all curves, with its own frequency: a large one of a high frequency hides none that is
/// nearer to a limit. Where this axis moves most, the same is done with the vector sum of the three.
///
/// It runs ``PeakInterpolation/reach`` samples behind, because a peak between two samples needs those after it; and the
/// crossing after a peak may come when its interval is over.
struct HalfCycles: Sendable {
    /// The largest one of an interval. Nil is the frequency where there is no crossing on one side.
    struct Peak: Sendable, Equatable {
        /// mm/s.
        var value = 0.0
        /// Nanoseconds of UTC.
        var time: Int64 = 0
        /// Hz.
        var frequency: Double?
    }

    /// Half cycles that are nearest to their limit: one of each curve, which may be the same.
    struct Nearest: Sendable, Equatable {
        private(set) var values = SIMD8<Double>.zero
        private(set) var times = SIMD8<Int64>.zero
        /// Hz; 0: not known, and low.
        private(set) var frequencies = SIMD8<Double>.zero
        private(set) var shares = SIMD8<Double>.zero
        /// No value up to this one is nearer to a limit at any frequency, and above ``LimitCurves/fast``. (Below, the limits
        /// of a displacement go down to 0.)
        private(set) var gate = 0.0
        private var fastGate = 0.0

        /// No value up to this one is nearer to a limit at a frequency.
        func gate(at frequency: Double?) -> Double { (frequency ?? 0) > LimitCurves.fast ? fastGate : gate }

        mutating func take(_ value: Double, _ time: Int64, _ frequency: Double?, _ curves: LimitCurves) {
            guard value > gate(at: frequency) else { return }
            let limits = frequency.map { curves.limits(at: $0) } ?? curves.strictest
            let size = SIMD8<Double>(repeating: value)
            let nearer = size .> shares * limits
            guard any(nearer) else { return }
            shares.replace(with: size / limits, where: nearer)
            values.replace(with: size, where: nearer)
            times.replace(with: SIMD8<Int64>(repeating: time), where: nearer)
            frequencies.replace(with: SIMD8<Double>(repeating: frequency ?? 0), where: nearer)
            var (least, fast) = (Double.infinity, Double.infinity)
            for lane in 0..<LimitCurves.most where curves.strictest[lane] < .infinity {
                least = min(least, shares[lane] * curves.least[lane])
                fast = min(fast, shares[lane] * curves.leastFast[lane])
            }
            // (A product of shares is rounded.)
            (gate, fastGate) = (least * (1 - 1e-12), fast * (1 - 1e-12))
        }
    }

    /// The half cycles that an interval keeps.
    struct Result: Sendable, Equatable {
        var peak = Peak()
        var nearest = Nearest()
        /// The same for the vector sum.
        var vectorPeak = Peak()
        var vectorNearest = Nearest()

        /// Whether any of it may be kept.
        func mayKeep(_ cycle: Cycle, _ frequency: Double?) -> Bool {
            if cycle.value > min(peak.value, nearest.gate(at: frequency)) { return true }
            let least = min(vectorPeak.value, vectorNearest.gate(at: frequency))
            // (Squares are rounded.)
            return max(cycle.value * cycle.value, cycle.vector) * (1 + 1e-12) > least * least && cycle.vector > 0
        }

        /// - Parameter isLow: the frequency is not known because no crossing came for longer than the band has periods.
        mutating func take(_ cycle: Cycle, _ frequency: Double?, isLow: Bool = false) {
            let knows = frequency != nil || isLow
            if cycle.value > 0 {
                if cycle.value > peak.value {
                    peak = Peak(value: cycle.value, time: cycle.time, frequency: frequency)
                }
                if knows { nearest.take(cycle.value, cycle.time, frequency, .ppv) }
            }
            guard cycle.vector > 0 else { return }
            // (The parabola has brought the axis nearer to its peak than quarters of a sample.)
            let isAxis = cycle.value * cycle.value > cycle.vector
            let (value, time) = isAxis ? (cycle.value, cycle.time) : (cycle.vector.squareRoot(), cycle.vectorTime)
            if value > vectorPeak.value { vectorPeak = Peak(value: value, time: time, frequency: frequency) }
            if knows { vectorNearest.take(value, time, frequency, .pvs) }
        }
    }

    /// One that is under way.
    struct Cycle: Sendable {
        /// mm/s, nanoseconds of UTC of its sample, and samples after that.
        var value = 0.0
        var time: Int64 = 0
        var shift = 0.0
        /// The vector sum where this axis moves most, squared.
        var vector = 0.0
        var vectorTime: Int64 = 0
        var vectorShift = 0.0

        /// With the times of the peaks themselves.
        func timed(_ rate: Double) -> Self {
            func moment(_ time: Int64, _ shift: Double) -> Int64 {
                time + Int64(((shift - Double(PeakInterpolation.reach)) * 1e9 / rate).rounded())
            }
            var timed = self
            (timed.time, timed.vectorTime) = (moment(time, shift), moment(vectorTime, vectorShift))
            (timed.shift, timed.vectorShift) = (0, 0)
            return timed
        }
    }

    private let axis: Double
    private let rate: Double
    private let interpolation: PeakInterpolation
    private var present = Result()
    /// Result of the interval that is over.
    private(set) var result = Result()
    private var open = Cycle()
    /// The part of the half cycle under way that lies in the interval that is over.
    private var rest = Cycle()
    private var crossing: Double?
    /// Samples since the last gap.
    private var place = 0.0

    init(axis: Int, rate: Double, interpolation: PeakInterpolation) {
        (self.axis, self.rate, self.interpolation) = (Double(axis), rate, interpolation)
    }

    /// The next sample does not follow the last. What is cut has no frequency.
    mutating func reset() {
        cross(at: nil)
        place = 0
    }

    /// Follows the crossings of a sample that counts in no peak.
    mutating func pass(_ velocity: UnsafePointer<Double>, from i: Int) {
        let v = velocity + (i - PeakInterpolation.reach)
        place += 1
        if (v[0] < 0) != (v[-1] < 0) { cross(at: place - interpolation.crossing(v)) }
    }

    private mutating func cross(at next: Double?) {
        var frequency: Double?
        if let next, let crossing { frequency = rate / (2 * (next - crossing)) }
        end(frequency)
        if open.value > 0 || open.vector > 0 {
            if present.mayKeep(open, frequency) { present.take(open.timed(rate), frequency) }
            open = Cycle()
        }
        crossing = next
    }

    private mutating func end(_ frequency: Double?, isLow: Bool = false) {
        guard rest.value > 0 || rest.vector > 0 else { return }
        result.take(rest.timed(rate), frequency, isLow: isLow)
        rest = Cycle()
    }

    /// Takes the samples that lie ``PeakInterpolation/reach`` before those from `start` on.
    mutating func process(_ signals: VibrationSignals, from start: Int, count: Int) {
        let velocity = signals.velocity + Int(axis) * signals.stride - PeakInterpolation.reach
        let (sums, leads, times) = (signals.sums, signals.leads, signals.times)
        // (Copied once, and not at each call.)
        let interpolation = interpolation
        var (gate, vectorGate) = gates()
        // (0 is added for -0, which is not below 0.)
        var (last, value) = (velocity[start - 1] + 0, velocity[start] + 0)
        var isEnd = true
        let begin = place - Double(start - 1)
        for i in start..<start + count {
            let next = velocity[i + 1] + 0
            let size = abs(value)
            if (value.bitPattern ^ last.bitPattern) >> 63 != 0 {
                if i > start { slope(abs(last), times[i - 1], gate) }
                cross(at: begin + Double(i) - interpolation.crossing(velocity + i))
                (gate, vectorGate) = gates()
                isEnd = true
            }
            if size >= abs(last), size >= abs(next) {
                if size > gate, size > 0.7 * open.value {
                    let peak = interpolation.peak(velocity + i)
                    if peak.value > open.value {
                        (open.value, open.time, open.shift) = (peak.value, times[i], peak.shift)
                    }
                }
            } else if isEnd {
                slope(size, times[i], gate)
            }
            isEnd = false
            if sums[i] > vectorGate, leads[i] == axis {
                vector(signals, i, interpolation)
                vectorGate = max(vectorGate, 0.45 * open.vector)
            }
            (last, value) = (value, next)
        }
        slope(abs(last), times[start + count - 1], gate)
        place += Double(count)
    }

    /// Takes a sample at the end of a half cycle or of what is here of it, where the largest may stand on a slope. (Of the others
    /// that are no top a neighbour is larger.)
    private mutating func slope(_ size: Double, _ time: Int64, _ gate: Double) {
        guard size > gate, size > open.value else { return }
        (open.value, open.time, open.shift) = (size, time, 0)
    }

    /// A value up to a gate cannot be nearer to a limit than those before: of a sine up to a third of the rate the samples have
    /// half of the peak. Nor can a sample of less than 0.7 of the largest of its half cycle be beside a larger peak.
    private func gates() -> (axis: Double, vector: Double) {
        let vector = present.vectorNearest.gate
        return (0.5 * present.nearest.gate, max(0.25 * vector * vector, 0.45 * open.vector))
    }

    /// The vector sum around a sample.
    private mutating func vector(_ signals: VibrationSignals, _ i: Int, _ interpolation: PeakInterpolation) {
        var peak = (square: signals.sums[i], shift: 0.0)
        if peak.square >= signals.sums[i - 1], peak.square >= signals.sums[i + 1] {
            let v = signals.velocity + (i - PeakInterpolation.reach)
            peak = interpolation.vectorPeak(v, stride: signals.stride, square: peak.square)
        }
        guard peak.square > open.vector else { return }
        (open.vector, open.vectorTime, open.vectorShift) = (peak.square, signals.times[i], peak.shift)
    }

    /// The interval is over; what is under way is still to be found.
    mutating func close() {
        (result, present) = (present, Result())
        (rest, open) = (open, Cycle())
    }

    /// Ends the half cycle under way.
    /// - Parameter isLow: no crossing came for longer than the band has periods.
    mutating func finish(isLow: Bool) { end(nil, isLow: isLow) }
}
