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

    private var rows: CSVRows
    private let survey: CSVSurvey
    private let tolerance: Double
    private var check: RegularityCheck
    private var interpolator: GridInterpolator
    /// Row that belongs behind a gap, read too early.
    private var pending: CSVRow?
    private var timeline: SampleTimeline
    private var index = 0

    init(_ file: RecordingFile, _ settings: ReplaySettings, rate: Double?) throws(SensorError) {
        rows = CSVRows(file, settings: settings)
        survey = try CSVSurvey(&rows, hint: rate)
        (self.rate, total, start, end) = (survey.grid.rate, survey.total, survey.start, survey.end)
        // The survey has seen that all rows are within the tolerance: only tears are still told apart here.
        tolerance = 0.4e9 / self.rate
        check = RegularityCheck(start: start, rate: self.rate, tolerance: tolerance)
        interpolator = GridInterpolator(start: start, rate: self.rate)
        timeline = SampleTimeline(start: start, rate: self.rate)
    }

    mutating func rewind() {
        rows.rewind()
        check = RegularityCheck(start: start, rate: rate, tolerance: tolerance)
        interpolator = GridInterpolator(start: start, rate: rate)
        timeline = SampleTimeline(start: start, rate: rate)
        pending = nil
        index = 0
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
            if case .afterTear(let lost) = check.place(of: row.time) {
                if block.count > 0 {
                    pending = row
                    return
                }
                block.gapBefore = true
                block.lostBefore = lost
                timeline = SampleTimeline(start: row.time, rate: rate)
                index = 0
            }
            check.add(row.time)
            if block.count == 0 { block.time = timeline.time(of: index) }
            block.append(row.x, row.y, row.z)
            index += 1
        }
    }
}

/// Puts irregular samples onto a regular grid, by straight lines between neighbours.
struct GridInterpolator {
    private let timeline: SampleTimeline
    private let hole: Double
    private var index = 0
    private var before: CSVRow?
    private var after: CSVRow?
    /// Grid points that were passed over since the last sample delivered.
    private var lost = 0
    private var ended = false

    init(start: Int64, rate: Double) {
        timeline = SampleTimeline(start: start, rate: rate)
        hole = CSVSurvey.holeIntervals * 1e9 / timeline.rate
    }

    mutating func fill(_ block: inout SampleBlock, from rows: inout CSVRows) throws(SensorError) {
        while block.count < block.capacity, !ended {
            let time = timeline.time(of: index)
            guard let right = after else {
                guard let row = try rows.next() else {
                    ended = true
                    return
                }
                (before, after) = (row, row)
                continue
            }
            guard time <= right.time else {
                guard let row = try rows.next() else {
                    ended = true
                    return
                }
                if Double(row.time - right.time) > hole {
                    // The grid goes on behind the hole.
                    let next = timeline.firstIndex(notBefore: row.time)
                    lost += next - index
                    index = next
                    (before, after) = (row, row)
                } else {
                    (before, after) = (right, row)
                }
                continue
            }
            if lost > 0 {
                if block.count > 0 { return }
                block.gapBefore = true
                block.lostBefore = lost
                lost = 0
            }
            if block.count == 0 { block.time = time }
            append(time, before ?? right, right, to: &block)
            index += 1
        }
    }

    private func append(_ time: Int64, _ a: CSVRow, _ b: CSVRow, to block: inout SampleBlock) {
        guard time < b.time, b.time > a.time else {
            block.append(b.x, b.y, b.z)
            return
        }
        let part = Double(time - a.time) / Double(b.time - a.time)
        block.append(a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part, a.z + (b.z - a.z) * part)
    }
}
