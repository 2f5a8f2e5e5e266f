import MiniSEED

/// Samples that follow each other without a gap: of one channel as counts, or of three axes in m/s².
public struct SampledRun<Name: Hashable & Sendable, Number: Sendable>: Sendable {
    public var name: Name
    /// Time of the first sample, nanoseconds of UTC.
    public var start: Int64
    /// Samples per second.
    public var rate: Double
    /// All of the same length.
    public var columns: [[Number]]
    /// m/s² of one count; nil: not known, or no counts.
    public var unit: Double?

    public init(_ name: Name, start: Int64, rate: Double, columns: [[Number]], unit: Double? = nil) {
        (self.name, self.start, self.rate, self.columns, self.unit) = (name, start, rate, columns, unit)
    }

    public var count: Int { columns.first?.count ?? 0 }

    /// Time of the sample behind the last.
    public var end: Int64 { SampleTimeline(start: start, rate: rate).time(of: count) }

    mutating func dropFirst(_ number: Int) {
        start = SampleTimeline(start: start, rate: rate).time(of: number)
        for c in columns.indices { columns[c].removeFirst(number) }
    }
}

public typealias ChannelRun = SampledRun<SourceIdentifier, Int32>
/// x, y, z of a station; the name is its id.
public typealias GroundRun = SampledRun<String, Double>

/// Puts pieces that came in any order, and perhaps twice, together.
public enum Runs {
    /// Joins runs that follow each other; what is there twice is taken once. A run whose clock differs from the count
    /// of samples by more than a thousandth of a sample begins anew at its own time, so that no time is lost.
    /// - Returns: the runs by name and time, and how many samples were there twice.
    public static func joined<Name, Number>(
        _ pieces: [SampledRun<Name, Number>]
    ) -> (runs: [SampledRun<Name, Number>], duplicates: Int) where Name: CustomStringConvertible {
        var runs: [SampledRun<Name, Number>] = []
        var duplicates = 0
        let groups = Dictionary(grouping: pieces) { Key($0.name, rate: $0.rate) }
        for (_, group) in groups.sorted(by: {
            ($0.key.name.description, $0.key.step) < ($1.key.name.description, $1.key.step)
        }) {
            var open: SampledRun<Name, Number>?
            // (Until where there are samples, which is not the end of the run before where that lay within another.)
            var until = Int64.min
            for var piece in group.sorted(by: { ($0.start, $0.count) < ($1.start, $1.count) }) where piece.count > 0 {
                let late = until == .min ? Double.infinity : Double(piece.start - until) * piece.rate / 1e9
                if late < -0.5 {
                    let known = min(piece.count, max(0, Int((-late).rounded())))
                    duplicates += known
                    if known == piece.count { continue }
                    piece.dropFirst(known)
                }
                let offset = until == .min ? Double.infinity : abs(Double(piece.start - until)) * piece.rate / 1e9
                until = piece.end
                if var run = open, offset <= max(1e-3, 2e-6 * piece.rate), run.unit == piece.unit,
                    abs(run.rate / piece.rate - 1) < 1e-6
                {
                    open = nil
                    for c in run.columns.indices { run.columns[c] += piece.columns[c] }
                    open = run
                } else {
                    if let open { runs.append(open) }
                    open = piece
                }
            }
            if let open { runs.append(open) }
        }
        return (runs, duplicates)
    }

    private struct Key<Name: Hashable>: Hashable {
        var name: Name
        /// Steps of 5 % of the rate, of which a channel has one: a rate that was found by the records' times and the one that
        /// a header says belong together.
        var step: Int

        init(_ name: Name, rate: Double) {
            self.name = name
            var (step, limit) = (0, 1e-3)
            while limit < rate * 0.9764, step < 2000 { (step, limit) = (step + 1, limit * 1.05) }
            self.step = step
        }
    }
}

/// Where a SeisComP Data Structure (SDS) keeps the records of a channel and day.
public enum DataStructure {
    /// `2026/XX/BASE/HNZ.D/XX.BASE.00.HNZ.D.2026.005`
    public static func path(of source: SourceIdentifier, at time: Int64) -> String {
        let day = CalendarTime(nanoseconds: time)
        let number = String("00\(day.dayOfYear)".suffix(3))
        let name = "\(source.network).\(source.station).\(source.location).\(source.channel).D.\(day.year).\(number)"
        return "\(day.year)/\(source.network)/\(source.station)/\(source.channel).D/\(name)"
    }

    /// The same run cut at midnight (UTC).
    public static func days(of run: ChannelRun) -> [ChannelRun] {
        var days: [ChannelRun] = []
        var rest = run
        while rest.count > 0 {
            let timeline = SampleTimeline(start: rest.start, rate: rest.rate)
            let (day, remainder) = rest.start.quotientAndRemainder(dividingBy: 86_400_000_000_000)
            let midnight = (remainder < 0 ? day : day + 1) * 86_400_000_000_000
            var first = max(1, timeline.nearestIndex(to: midnight))
            while first < rest.count, timeline.time(of: first) < midnight { first += 1 }
            while first > 1, timeline.time(of: first - 1) >= midnight { first -= 1 }
            var part = rest
            if first < rest.count {
                part.columns = rest.columns.map { Array($0.prefix(first)) }
                rest.dropFirst(first)
            } else {
                rest.columns = []
            }
            days.append(part)
        }
        return days
    }
}
