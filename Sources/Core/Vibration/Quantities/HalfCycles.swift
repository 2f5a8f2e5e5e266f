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
    struct Nearest: Sendable {
        private(set) var values = SIMD8<Double>.zero
        private(set) var times = SIMD8<Int64>.zero
        /// Hz; 0: not known, and low.
        private(set) var frequencies = SIMD8<Double>.zero
        private(set) var shares = SIMD8<Double>.zero
        /// No value up to this one is nearer to a limit at any frequency.
        private(set) var gate = 0.0

        mutating func take(_ value: Double, _ time: Int64, _ frequency: Double?, _ curves: LimitCurves) {
            guard value > gate else { return }
            let limits = frequency.map { curves.limits(at: $0) } ?? curves.strictest
            let size = SIMD8<Double>(repeating: value)
            let nearer = size .> shares * limits
            guard any(nearer) else { return }
            shares.replace(with: size / limits, where: nearer)
            values.replace(with: size, where: nearer)
            times.replace(with: SIMD8<Int64>(repeating: time), where: nearer)
            frequencies.replace(with: SIMD8<Double>(repeating: frequency ?? 0), where: nearer)
            var least = Double.infinity
            for lane in 0..<LimitCurves.most where curves.strictest[lane] < .infinity {
                least = min(least, shares[lane] * curves.least[lane])
            }
            // (A product of shares is rounded.)
            gate = least * (1 - 1e-12)
        }
    }

    /// The half cycles that an interval keeps.
    struct Result: Sendable {
        var peak = Peak()
        var nearest = Nearest()
        /// The same for the vector sum.
        var vectorPeak = Peak()
        var vectorNearest = Nearest()

        /// - Parameter isLow: the frequency is not known because no crossing came for longer than the band has periods.
        fileprivate mutating func take(_ cycle: Cycle, _ frequency: Double?, isLow: Bool = false) {
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
    fileprivate struct Cycle: Sendable {
        /// mm/s, and nanoseconds of UTC.
        var value = 0.0
        var time: Int64 = 0
        /// The vector sum where this axis moves most, squared.
        var vector = 0.0
        var vectorTime: Int64 = 0
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
            present.take(open, frequency)
            open = Cycle()
        }
        crossing = next
    }

    private mutating func end(_ frequency: Double?, isLow: Bool = false) {
        guard rest.value > 0 || rest.vector > 0 else { return }
        result.take(rest, frequency, isLow: isLow)
        rest = Cycle()
    }

    /// Takes the samples that lie ``PeakInterpolation/reach`` before those from `start` on.
    mutating func process(_ signals: VibrationSignals, from start: Int, count: Int) {
        let velocity = signals.velocity + Int(axis) * signals.stride - PeakInterpolation.reach
        let (sums, leads, times) = (signals.sums, signals.leads, signals.times)
        var place = place
        var (gate, vectorGate) = gates()
        for i in start..<start + count {
            let v = velocity + i
            let (value, last) = (v[0], v[-1])
            place += 1
            if (value < 0) != (last < 0) {
                cross(at: place - interpolation.crossing(v))
                (gate, vectorGate) = gates()
            }
            let size = abs(value)
            if size > gate {
                // The largest may stand at the end of the interval, on a slope.
                var peak = (value: size, shift: 0.0)
                if size >= abs(last), size >= abs(v[1]) { peak = interpolation.peak(v) }
                if peak.value > open.value {
                    (open.value, open.time) = (peak.value, time(times[i], peak.shift))
                    gate = max(gate, 0.7 * peak.value)
                }
            }
            if sums[i] > vectorGate, leads[i] == axis {
                vector(signals, i)
                vectorGate = max(vectorGate, 0.45 * open.vector)
            }
        }
        self.place = place
    }

    /// A value up to a gate cannot be nearer to a limit than those before: of a sine up to a third of the rate the samples have
    /// half of the peak.
    private func gates() -> (axis: Double, vector: Double) {
        let vector = present.vectorNearest.gate
        return (
            max(0.5 * present.nearest.gate, 0.7 * open.value), max(0.25 * vector * vector, 0.45 * open.vector)
        )
    }

    private func time(_ time: Int64, _ shift: Double) -> Int64 {
        time + Int64(((shift - Double(PeakInterpolation.reach)) * 1e9 / rate).rounded())
    }

    /// The vector sum around a sample.
    private mutating func vector(_ signals: VibrationSignals, _ i: Int) {
        let v = signals.velocity + (i - PeakInterpolation.reach)
        let stride = signals.stride
        @inline(never) func square(_ quarters: Int) -> Double {
            let x = interpolation.value(v, quarters: quarters)
            let y = interpolation.value(v + stride, quarters: quarters)
            let z = interpolation.value(v + 2 * stride, quarters: quarters)
            return x * x + y * y + z * z
        }
        var (largest, place) = (signals.sums[i], 0)
        if largest >= signals.sums[i - 1], largest >= signals.sums[i + 1] {
            let (left, right) = (square(-2), square(2))
            let side = left > right ? -1 : 1
            if max(left, right) > largest { (largest, place) = (max(left, right), 2 * side) }
            for quarters in [side, 3 * side] {
                let one = square(quarters)
                if one > largest { (largest, place) = (one, quarters) }
            }
        }
        guard largest > open.vector else { return }
        (open.vector, open.vectorTime) = (largest, time(signals.times[i], Double(place) / 4))
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
