import MiniSEED

/// What one look through a whole CSV file finds out: every row is checked, and the rate is known afterwards.
struct CSVSurvey {
    enum Grid: Equatable {
        /// The samples are where they should be: they are taken as they are.
        case regular(rate: Double)
        /// They are not: values are interpolated linearly onto a grid of this rate.
        case interpolated(rate: Double)

        var rate: Double {
            switch self {
            case .regular(let rate), .interpolated(let rate): rate
            }
        }
    }

    var grid: Grid
    /// Samples that the replay delivers.
    var total: Int
    /// Times of the first and the last sample delivered, in nanoseconds.
    var start: Int64
    var end: Int64

    /// Rows from which the rate is estimated; all rows are then held against it.
    private static let headRows = 65536
    /// Intervals without a sample that end the interpolation: a hole, declared as a gap.
    static let holeIntervals = 5.0
    /// Where more than one row in so many comes after a tear, the file is irregular rather than full of gaps.
    private static let rowsPerTear = 20

    /// - Throws: `.format` with file and line at the first row that is wrong.
    init(_ rows: inout CSVRows, hint: Double?) throws(SensorError) {
        let (times, quantum) = try Self.head(&rows)
        guard let first = times.first else { throw SensorError(.format, "\(rows.path): no samples in the file") }
        guard let estimate = RateEstimate(times: times, quantum: quantum, hint: hint) else {
            throw SensorError(.format, "\(rows.path): there is only one sample: at least two are needed for the rate")
        }
        for rate in [estimate.regular, estimate.nominal] where !SampleTimeline.rates.contains(rate) {
            throw SensorError(
                .format, "\(rows.path): samples at \(rate) Hz, allowed are 0.1 to 1000000 Hz")
        }
        rows.rewind()
        var check = RegularityCheck(start: first, rate: estimate.regular, tolerance: estimate.tolerance)
        var counter = GridCounter(start: first, rate: estimate.nominal)
        var count = 0
        while let row = try rows.next() {
            check.add(row.time)
            counter.add(row.time)
            count += 1
        }
        rows.rewind()
        start = first
        if check.isRegular, check.tears * Self.rowsPerTear <= count {
            grid = .regular(rate: estimate.regular)
            total = count
            end = check.last
        } else {
            counter.finish()
            grid = .interpolated(rate: estimate.nominal)
            total = counter.total
            end = counter.last
        }
    }

    private static func head(_ rows: inout CSVRows) throws(SensorError) -> (times: [Int64], quantum: Int64) {
        var times: [Int64] = []
        var quantum = Int64.max
        while times.count < headRows, let row = try rows.next() {
            times.append(row.time)
            quantum = min(quantum, row.quantum)
        }
        return (times, quantum)
    }
}

/// Follows regular samples from row to row: on time, after a tear, or neither.
struct RegularityCheck {
    enum Place: Equatable {
        case onTime
        /// The row comes more than half a sample late: so many samples are missing before it.
        case afterTear(lost: Int)
        case irregular
    }

    private var timeline: SampleTimeline
    private let tolerance: Double
    private var index = 0
    private(set) var tears = 0
    private(set) var isRegular = true
    /// Time of the last sample in nanoseconds.
    private(set) var last: Int64

    init(start: Int64, rate: Double, tolerance: Double) {
        timeline = SampleTimeline(start: start, rate: rate)
        // Rounding of the text of up to half a sample must not be taken for a tear.
        self.tolerance = min(tolerance, 0.4e9 / rate)
        last = start
    }

    mutating func add(_ time: Int64) {
        let expected = timeline.time(of: index)
        switch place(of: time, expected: expected) {
        case .onTime:
            last = expected
            index += 1
        case .afterTear:
            timeline = SampleTimeline(start: time, rate: timeline.rate)
            last = time
            index = 1
            tears += 1
        case .irregular:
            isRegular = false
            last = time
            index += 1
        }
    }

    private func place(of time: Int64, expected: Int64) -> Place {
        let late = Double(time - expected)
        if abs(late) <= tolerance { return .onTime }
        let samples = late * timeline.rate / 1e9
        return samples > 0.5 ? .afterTear(lost: max(1, Int(min(samples.rounded(), 1e15)))) : .irregular
    }

    /// The same judgement without taking the row in.
    func place(of time: Int64) -> Place { place(of: time, expected: timeline.time(of: index)) }
}

/// Counts the points of a grid that have samples around them.
struct GridCounter {
    private let timeline: SampleTimeline
    private let hole: Double
    private var first: Int64
    private var previous: Int64
    private(set) var total = 0
    /// Time of the last grid point.
    private(set) var last: Int64

    init(start: Int64, rate: Double) {
        timeline = SampleTimeline(start: start, rate: rate)
        hole = CSVSurvey.holeIntervals * 1e9 / timeline.rate
        (first, previous, last) = (start, start, start)
    }

    mutating func add(_ time: Int64) {
        if Double(time - previous) > hole {
            finish()
            first = time
        }
        previous = time
    }

    /// Counts what lies between the last hole and the last sample.
    mutating func finish() {
        let from = timeline.firstIndex(notBefore: first)
        let to = timeline.lastIndex(notAfter: previous)
        guard to >= from else { return }
        total += to - from + 1
        last = timeline.time(of: to)
    }
}

extension SampleTimeline {
    /// The first sample at or after a time.
    func firstIndex(notBefore time: Int64) -> Int {
        var index = max(0, nearestIndex(to: time) - 1)
        while self.time(of: index) < time { index += 1 }
        return index
    }

    /// The last sample at or before a time, which is not before the start.
    func lastIndex(notAfter time: Int64) -> Int {
        var index = nearestIndex(to: time) + 1
        while index > 0, self.time(of: index) > time { index -= 1 }
        return index
    }
}
