import Instruments
import MiniSEED
import SignalProcessing

/// A CSV file as a series of samples at a constant rate. Memory does not grow with the file: it is read a second time
/// while it is played.
struct CSVRecording {
    let rate: Double
    let total: Int
    let start: Int64
    let end: Int64

    /// Sentences that the user should know of it.
    let notes: [String]

    private var rows: CSVRows
    private let survey: CSVSurvey
    private var interpolator: GridInterpolator
    /// Number of the next row of regular samples, and its stretch.
    private var number = 0
    private var stretch = 0
    /// The row that begins the next stretch, read too early.
    private var pending: CSVRow?
    private var timeline: SampleTimeline

    init(
        _ file: RecordingFile, _ settings: ReplaySettings, rate: Double?, isUnitGiven: Bool
    ) throws(SensorError) {
        rows = CSVRows(file, settings: settings, isUnitGiven: isUnitGiven)
        survey = try CSVSurvey(&rows, hint: rate)
        (self.rate, total, start, end) = (survey.grid.rate, survey.total, survey.start, survey.end)
        notes = survey.notes + LargestSample.notes(survey.largest)
        interpolator = GridInterpolator(start: start, rate: self.rate, isBandLimited: survey.isBandLimited)
        timeline = SampleTimeline(start: start, rate: self.rate)
    }

    mutating func rewind() {
        rows.rewind()
        interpolator = GridInterpolator(start: start, rate: rate, isBandLimited: survey.isBandLimited)
        timeline = SampleTimeline(start: start, rate: rate)
        pending = nil
        (number, stretch) = (0, 0)
    }

    /// Appends samples up to the block's capacity, the next gap or the end; sets its time and its gap mark.
    /// Nothing is appended only at the end.
    mutating func fill(_ block: inout SampleBlock) throws(SensorError) {
        switch survey.grid {
        case .regular: try fillRegular(&block)
        case .interpolated: try interpolator.fill(&block, from: &rows)
        }
    }

    private mutating func fillRegular(_ block: inout SampleBlock) throws(SensorError) {
        while block.count < block.capacity {
            let row: CSVRow
            if let held = pending {
                pending = nil
                row = held
            } else if let next = try rows.next() {
                row = next
            } else {
                return
            }
            if stretch + 1 < survey.stretches.count, number == survey.stretches[stretch + 1].first {
                if block.count > 0 {
                    pending = row
                    return
                }
                stretch += 1
                let next = survey.stretches[stretch]
                timeline = SampleTimeline(start: next.start, rate: rate)
                if let lost = next.lost {
                    block.gapBefore = true
                    block.lostBefore = lost
                }
            }
            if block.count == 0 { block.time = timeline.time(of: number - survey.stretches[stretch].first) }
            block.append(row.x, row.y, row.z)
            number += 1
        }
    }
}

/// A word where samples are larger than the ground's can be.
enum LargestSample {
    /// Beyond this many g a recording is not in the unit that it is taken for, or it is one of an impact.
    private static let most = 5.0

    /// - Parameter largest: in m/s², either way from zero.
    static func notes(_ largest: Double) -> [String] {
        guard largest > most * standardGravity else { return [] }
        let (value, g) = ((largest * 100).rounded() / 100, (largest / standardGravity * 100).rounded() / 100)
        return ["the largest sample is \(value) m/s² (\(g) g): is the unit or the scale right?"]
    }
}

/// Findings of one pass through a whole CSV file: every row is checked, and the rate is known afterwards.
struct CSVSurvey {
    /// A stretch of regular samples.
    struct Stretch: Equatable {
        /// Number of its first row, from 0.
        var first: Int
        var count: Int
        /// Time of its first sample in nanoseconds.
        var start: Int64
        /// Samples that are missing before it; nil: none, its clock was only set a little.
        var lost: Int?
    }

    enum Grid: Equatable {
        /// The samples are where they should be: they are taken as they are.
        case regular(rate: Double)
        /// They are not: values between them are put onto a grid of this rate.
        case interpolated(rate: Double)

        var rate: Double {
            switch self {
            case .regular(let rate), .interpolated(let rate): rate
            }
        }
    }

    var grid: Grid
    /// Stretches of regular samples.
    var stretches: [Stretch] = []
    /// Samples that the replay delivers.
    var total: Int
    /// Times of the first and the last sample delivered, in nanoseconds.
    var start: Int64
    var end: Int64
    /// Largest sample of x, y or z, either way from zero, in m/s².
    var largest = 0.0
    /// The grid of irregular samples has their own rate, so that they are put onto it as what they are.
    var isBandLimited = false
    /// Sentences that the user should know of the times.
    var notes: [String] = []

    /// Rows from which period and resolution are estimated; all rows are then held against them.
    private static let headRows = 65536
    /// Intervals without a sample that end the interpolation: a hole, declared as a gap.
    static let holeIntervals = 5.0

    /// - Throws: `.format` with file and line at the first row that is wrong.
    init(_ rows: inout CSVRows, hint: Double?) throws(SensorError) {
        let (times, quantum) = try Self.head(&rows)
        guard let first = times.first else { throw SensorError(.format, "\(rows.path): no samples in the file") }
        guard times.count > 1 else {
            throw SensorError(.format, "\(rows.path): there is only one sample: at least two are needed for the rate")
        }
        let repeated = rows.firstRepeatedTime
        guard let estimate = RateEstimate(times: times, quantum: quantum),
            repeated == nil || estimate.resolution >= estimate.period / 2
        else { throw rows.fail(CSVRows.backwards(0), line: repeated) }
        if rows.columns.timeUnit == nil, quantum >= 1_000_000_000, estimate.period > 1.5e9,
            !rows.columns.names.isEmpty, first < 1_000_000_000_000_000_000
        {
            throw SensorError(
                .format,
                "\(rows.path): the times are whole numbers without a unit, \(estimate.period / 1e9) from row to row: "
                    + "say in the header what they are, such as t (ms) or t (s)")
        }
        rows.rewind()
        let slack = estimate.period * RateEstimate.slack
        var tight = StampLines(period: estimate.period, tolerance: estimate.resolution / 2 + 1)
        var loose = StampLines(period: estimate.period, tolerance: estimate.resolution / 2 + slack)
        let nominal = estimate.gridRate(hint: hint)
        var counter = GridCounter(start: first, rate: nominal)
        var spread = IntervalSpread(period: estimate.period)
        var count = 0
        while let row = try rows.next() {
            let time = Double(row.time - first)
            tight.add(time)
            loose.add(time)
            counter.add(row.time)
            spread.add(row.time)
            largest = max(largest, abs(row.x), abs(row.y), abs(row.z))
            count += 1
        }
        if let line = rows.firstRepeatedTime, estimate.resolution < estimate.period / 2 {
            throw rows.fail(CSVRows.backwards(0), line: line)
        }
        rows.rewind()
        tight.finish()
        loose.finish()
        start = first
        // The tighter lines tell the rate better, where they pass.
        let lines = !tight.isIrregular && tight.pieces.count <= loose.pieces.count ? tight : loose
        if !lines.isIrregular {
            let rate = estimate.regularRate(lines.commonPeriods, hint: hint)
            (grid, total, end) = (.regular(rate: rate), count, first)
            place(lines.pieces, rate: rate, isExact: Double(quantum) < estimate.period / 1000, rows: times)
        } else {
            if let line = rows.firstRepeatedTime { throw rows.fail(CSVRows.backwards(0), line: line) }
            counter.finish()
            grid = .interpolated(rate: nominal)
            total = counter.total
            end = counter.last
            isBandLimited = abs(nominal * estimate.period / 1e9 - 1) < 0.05
            notes = [
                spread.note(rate: nominal, resolution: estimate.resolution, isBandLimited: isBandLimited)
            ]
        }
        guard SampleTimeline.rates.contains(grid.rate) else {
            throw SensorError(.format, "\(rows.path): samples at \(grid.rate) Hz, allowed are 0.1 to 1000000 Hz")
        }
    }

    /// Puts the stretches in time.
    /// - Parameter isExact: stamps are so fine that the first sample's is taken as it stands.
    private mutating func place(_ pieces: [StampLines.Piece], rate: Double, isExact: Bool, rows: [Int64]) {
        let period = 1e9 / rate
        var expected = 0.0
        for piece in pieces.flatMap({ $0.parts(period: period) }) {
            var begin = piece.start(period: period)
            // (What a text rounds to its own last digit stays as it is written.)
            if isExact, piece.first < rows.count {
                let written = Double(rows[piece.first] - start)
                if abs(begin - written) < period / 1000 { begin = written }
            }
            let late = ((begin - expected) / period).rounded()
            let isFirst = stretches.isEmpty
            let lost = piece.isGap && !isFirst ? max(1, Int(min(late, 1e15))) : nil
            let time = start + Int64(begin.rounded())
            stretches.append(Stretch(first: piece.first, count: piece.count, start: time, lost: lost))
            expected = begin + period * Double(piece.count)
            end = SampleTimeline(start: time, rate: rate).time(of: piece.count - 1)
        }
        start = stretches.first?.start ?? start
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

/// How far the intervals of irregular samples differ from their typical one.
struct IntervalSpread {
    private let period: Double
    private var previous: Int64?
    private var count = 0
    private var square = 0.0
    private var shortest = Double.infinity
    private var longest = 0.0

    init(period: Double) { self.period = period }

    mutating func add(_ time: Int64) {
        defer { previous = time }
        guard let previous else { return }
        let interval = Double(time - previous)
        guard interval <= CSVSurvey.holeIntervals * period else { return }
        count += 1
        square += (interval - period) * (interval - period)
        (shortest, longest) = (min(shortest, interval), max(longest, interval))
    }

    /// - Parameter rate: of the grid in Hz.
    func note(rate: Double, resolution: Double, isBandLimited: Bool) -> String {
        func milliseconds(_ nanoseconds: Double) -> String { "\((nanoseconds / 1e4).rounded() / 100) ms" }
        let deviation = count > 0 ? (square / Double(count)).squareRoot() / period : 0
        return "the samples are irregular: from \(milliseconds(shortest)) to \(milliseconds(longest)) apart, "
            + "\((deviation * 1000).rounded() / 10) % RMS from \(milliseconds(period)), stamps in steps of "
            + "\(milliseconds(resolution)); they are put onto \(rate) Hz, "
            + (isBandLimited ? "up to 0.8 of half of it as they are" : "by straight lines")
    }
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
