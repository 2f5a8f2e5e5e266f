/// The sample rate behind a list of time stamps that were rounded to the digits of a text.
struct RateEstimate: Equatable {
    /// Rate in Hz if the samples are regular: the simplest fraction that the stamps allow.
    var regular: Double
    /// Rate in Hz onto which irregular samples are put.
    var nominal: Double
    /// How far a regular sample's stamp may lie from its place, in nanoseconds.
    var tolerance: Double

    /// Part of a sample interval by which regular samples may be off, besides the text's rounding.
    static let slack = 0.01

    /// - Parameters:
    ///   - times: at least two, rising, in nanoseconds.
    ///   - quantum: smallest step of the text in nanoseconds.
    ///   - hint: the rate that the user gave.
    init?(times: [Int64], quantum: Int64, hint: Double?) {
        guard times.count >= 2 else { return nil }
        var intervals = (1..<times.count).map { times[$0] - times[$0 - 1] }
        intervals.sort()
        let median = Double(intervals[intervals.count / 2])
        guard median >= 1 else { return nil }
        tolerance = median * Self.slack + Double(quantum)
        let run = Self.longestRun(times, hole: 1.5 * median + Double(quantum))
        let span = Double(times[run.upperBound] - times[run.lowerBound])
        let count = Double(run.count - 1)
        // The rates at which the run's both ends are within the tolerance.
        let lowest = count * 1e9 / (span + tolerance)
        let highest = span > tolerance ? count * 1e9 / (span - tolerance) : lowest * 2
        let middle = count * 1e9 / span
        if let hint, (lowest...highest).contains(hint) {
            regular = hint
        } else if let plain = Self.simplestFraction(
            from: count * 1e9 / (span + 1), to: count * 1e9 / (span - 1), below: 9)
        {
            // The stamps' ends are exact: 100 Hz, 31.25 Hz. Coarse digits leave room for simpler, wrong fractions.
            regular = plain
        } else {
            regular = Self.simplestFraction(from: lowest, to: highest) ?? middle
        }
        // The mean of the middle half: like the median deaf to holes, but stamps that alternate do not mislead it.
        let middleHalf = intervals[(intervals.count / 4)..<(intervals.count - intervals.count / 4)]
        let typical = middleHalf.reduce(0) { $0 + Double($1) } / Double(middleHalf.count)
        nominal = hint ?? Self.rounded(1e9 / typical)
    }

    /// The longest stretch without a hole, as first and last index.
    private static func longestRun(_ times: [Int64], hole: Double) -> ClosedRange<Int> {
        var (best, first) = (0...0, 0)
        for index in 1..<times.count {
            if Double(times[index] - times[index - 1]) > hole { first = index }
            if index - first > best.count - 1 { best = first...index }
        }
        return best.count > 1 ? best : 0...(times.count - 1)
    }

    /// Whole numbers from 2 Hz on; below, the simplest fraction within 2 %.
    private static func rounded(_ rate: Double) -> Double {
        rate >= 2 ? rate.rounded() : simplestFraction(from: rate * 0.98, to: rate * 1.02) ?? rate
    }

    /// The fraction with the smallest denominator in an interval, by continued fractions; nil when that is not below
    /// the limit.
    static func simplestFraction(from low: Double, to high: Double, below limit: Double = 1000) -> Double? {
        // Whole numbers of the continued fraction that both ends share, then the first that fits between.
        var (a, b) = (low, high)
        var (p0, q0, p1, q1) = (0.0, 1.0, 1.0, 0.0)
        for _ in 0..<40 {
            let ceiling = a.rounded(.up)
            let term = ceiling <= b ? ceiling : a.rounded(.down)
            (p0, q0, p1, q1) = (p1, q1, term * p1 + p0, term * q1 + q0)
            guard q1 < limit else { return nil }
            if ceiling <= b { return p1 / q1 }
            (a, b) = (1 / (b - term), 1 / (a - term))
        }
        return nil
    }
}
