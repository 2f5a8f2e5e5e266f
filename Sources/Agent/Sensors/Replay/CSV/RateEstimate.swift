import MiniSEED

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

/// Regular samples behind stamps of a limited resolution: the stretches in which one straight line passes all stamps,
/// and the rate that all of them have in common.
struct StampLines {
    /// A stretch of rows.
    struct Piece: Equatable {
        /// Number of its first row, from 0.
        var first: Int
        var count: Int
        /// Time of the row in its middle (which may be half a row), in nanoseconds from the first row of all.
        var middle: Double
        /// Nanoseconds from sample to sample that its stamps allow.
        var periods: ClosedRange<Double>
        /// Samples are missing before it; false: its clock was set a little.
        var isGap: Bool

        /// Where its own period differs from the common one: parts in which no row is off by more than a tenth of it.
        func parts(period: Double) -> [Piece] {
            guard count > 1, periods.lowerBound.isFinite, !periods.contains(period) else { return [self] }
            let own = (periods.lowerBound + periods.upperBound) / 2
            let number = min(count / 2, Int((abs(own - period) * Double(count) / (0.2 * period)).rounded(.up)))
            guard number > 1 else { return [self] }
            return (0..<number).map { k in
                var part = self
                let (from, to) = (count * k / number, count * (k + 1) / number)
                (part.first, part.count, part.isGap) = (first + from, to - from, isGap && k == 0)
                part.middle = middle + own * (Double(from + to) - Double(count)) / 2
                return part
            }
        }

        /// Time of its first row at a common period.
        func start(period: Double) -> Double { middle - period * Double(count - 1) / 2 }
    }

    private(set) var pieces: [Piece] = []
    /// The samples are no regular ones.
    private(set) var isIrregular = false

    private let period: Double
    private let tolerance: Double
    /// Rows.
    private var count = 0
    private var line: FeasibleLine
    private var first = 0
    private var isGap = false
    private var last = 0.0

    /// Where more than one row in so many begins a new stretch, the file is irregular rather than full of gaps.
    private static let rowsPerPiece = 20

    /// - Parameters:
    ///   - period: about the time from sample to sample, ns.
    ///   - tolerance: how far a stamp may lie from its sample, ns.
    init(period: Double, tolerance: Double) {
        (self.period, self.tolerance) = (period, tolerance)
        line = FeasibleLine(tolerance: tolerance, slope: period)
    }

    /// The next row's stamp, ns from the first row of all.
    mutating func add(_ time: Double) {
        guard !isIrregular else { return }
        if count == 0 { _ = line.add(0, time) } else { follow(time) }
        last = time
        count += 1
    }

    private mutating func follow(_ time: Double) {
        let place = Double(count - first)
        // One line passes any two points: a jump shows in itself.
        let isJump = time - last > 1.5 * period + 2 * tolerance
        if !isJump, line.add(place, time) { return }
        let expected = line.count > 1 ? line.value(at: place) : last + period
        close()
        isGap = time - expected > 0.5 * period + tolerance
        // A clock wanders over many samples; one that does so from sample to sample is irregular.
        if !isGap, count - first < Self.rowsPerPiece { isIrregular = true }
        first = count
        line.restart()
        _ = line.add(0, time)
        if pieces.count > 100, pieces.count * Self.rowsPerPiece > count { isIrregular = true }
    }

    private mutating func close() {
        pieces.append(
            Piece(
                first: first, count: count - first, middle: line.value(at: Double(count - first - 1) / 2),
                periods: line.slopes, isGap: isGap))
    }

    /// No more rows.
    mutating func finish() {
        guard !isIrregular, count > 0 else { return }
        close()
        isIrregular = (pieces.count - 1) * Self.rowsPerPiece > count
    }

    /// The periods that the longest stretches have in common, ns.
    var commonPeriods: ClosedRange<Double> {
        var common = -Double.infinity...Double.infinity
        for piece in pieces.sorted(by: { $0.count > $1.count }) {
            let (low, high) = (
                max(common.lowerBound, piece.periods.lowerBound), min(common.upperBound, piece.periods.upperBound)
            )
            // (A clock that wanders has no common period: that of its longest stretches is as good as any.)
            if low <= high { common = low...high }
        }
        return common
    }
}
