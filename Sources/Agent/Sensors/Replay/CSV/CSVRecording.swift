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
