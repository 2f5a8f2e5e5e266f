/// First estimates from a list of time stamps: about the period, and how fine the stamps are.
struct RateEstimate: Equatable {
    /// About the time from sample to sample in nanoseconds.
    var period: Double
    /// Smallest step of the stamps in nanoseconds: of the text, or of the clock that was written down.
    var resolution: Double
    /// All intervals are the same, holes aside: this one, in nanoseconds.
    var onlyInterval: Int64?

    /// Part of a sample interval by which regular samples may be off, besides the stamps' resolution.
    static let slack = 0.01

    /// - Parameters:
    ///   - times: at least two, none before the one above, in nanoseconds.
    ///   - quantum: smallest step of the text in nanoseconds.
    init?(times: [Int64], quantum: Int64) {
        guard times.count >= 2, let first = times.first, let last = times.last, last > first else { return nil }
        // Stamps that are coarser than the samples repeat: intervals of several samples tell the period.
        let mean = Double(last - first) / Double(times.count - 1)
        var smallest = Int64.max
        var repeats = false
        for index in 1..<times.count {
            let interval = times[index] - times[index - 1]
            if interval > 0 { smallest = min(smallest, interval) } else { repeats = true }
        }
        let coarse = Double(repeats ? max(quantum, smallest) : quantum)
        let step = min(times.count - 1, max(1, Int((4 * coarse / mean).rounded(.up))))
        let period = Self.middle((step..<times.count).map { Double(times[$0] - times[$0 - step]) / Double(step) })
        guard period >= 1 else { return nil }
        self.period = period
        let hole = 1.5 * period + Double(quantum)
        var (divisor, shortest, longest) = (Int64(0), Int64.max, Int64(0))
        for index in 1..<times.count {
            let interval = times[index] - times[index - 1]
            guard Double(interval) <= hole || step > 1 else { continue }
            (shortest, longest) = (min(shortest, interval), max(longest, interval))
            divisor = Self.greatestDivisor(divisor, interval)
        }
        onlyInterval = shortest == longest && shortest > 0 ? shortest : nil
        // A clock in milliseconds may be written with six decimals.
        resolution = Double(onlyInterval == nil ? max(quantum, divisor) : quantum)
    }

    /// The mean of the middle half: like the median deaf to holes, but stamps that alternate do not mislead it.
    private static func middle(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let half = sorted[(sorted.count / 4)..<(sorted.count - sorted.count / 4)]
        return half.reduce(0, +) / Double(half.count)
    }

    private static func greatestDivisor(_ a: Int64, _ b: Int64) -> Int64 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }

    /// The rate of regular samples: the one that the user gave, a simple one, or the one in the middle of those that the
    /// stamps allow.
    /// - Parameter periods: that the stamps allow, in nanoseconds.
    func regularRate(_ periods: ClosedRange<Double>, hint: Double?) -> Double {
        let low = max(periods.lowerBound, period / 2)
        let high = min(periods.upperBound, period * 2)
        guard low <= high else { return 1e9 / period }
        let rates = 1e9 / high...1e9 / low
        if let hint, rates.contains(hint) { return hint }
        // Intervals that are all the same are exact: 10 ms is 100 Hz, however coarse the text.
        if let onlyInterval,
            let plain = Self.simplestFraction(
                from: 1e9 / (Double(onlyInterval) + 0.5), to: 1e9 / (Double(onlyInterval) - 0.5), below: 9),
            rates.contains(plain)
        {
            return plain
        }
        if let plain = Self.simplestFraction(from: rates.lowerBound, to: rates.upperBound, below: 9) { return plain }
        return 2e9 / (low + high)
    }

    /// The rate onto which irregular samples are put.
    func gridRate(hint: Double?) -> Double { hint ?? Self.rounded(1e9 / period) }

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
