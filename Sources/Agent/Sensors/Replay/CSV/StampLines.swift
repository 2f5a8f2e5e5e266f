import MiniSEED

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
