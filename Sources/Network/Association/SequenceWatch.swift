/// Sees in `boot` and `seq` of each station's events which of them have not come, and when they are to be asked for.
/// Pure: time is passed in, in seconds of any clock that does not go back.
public struct SequenceWatch: Sendable {
    /// Messages of one station to be asked for again.
    public struct Gap: Sendable, Equatable {
        public var station: String
        public var boot: String
        public var from: Int
        public var to: Int
    }

    /// The newest message of a run.
    public struct Mark: Sendable, Equatable {
        public var boot: String
        public var number: Int
        /// When it was made, by its own word (nanoseconds of UTC); nil: it does not say.
        public var made: Int64?
        public init(boot: String, number: Int, made: Int64? = nil) {
            (self.boot, self.number, self.made) = (boot, number, made)
        }
    }

    private struct Open: Sendable {
        var station: String
        var boot: String
        var missing: Set<Int>
        var asked = 0
        var next: Double
    }

    /// Messages of one gap that are asked for; older ones are of no use to anybody any more.
    public static let most = 1000
    /// Gaps that are kept in mind.
    static let gapLimit = 10_000
    /// Seconds from one question to the next; then it is given up.
    static let pauses = [5.0, 20, 60, 300]

    /// Numbers that a message may have: each has a next one, and all readers of JSON have them as they are.
    private static let numbers = 0..<(1 << 53)
    /// Runs of one station that are kept in mind: those heard of last.
    public static let runLimit = 16

    /// Runs of each station, the one heard of last at the end: messages that a former run has left may come amid those
    /// of the present one.
    private var runs: [String: [Mark]] = [:]
    private var open: [Open] = []
    /// Messages that no station had any more, or that did not come.
    public private(set) var lost = 0

    public init() {}

    /// Messages that are waited for.
    public var missing: Int { open.reduce(0) { $0 + $1.missing.count } }

    /// The newest message of a station, of the run that was heard of last; nil: it has sent nothing yet.
    public func mark(of station: String) -> Mark? { runs[station]?.last }

    /// The same of each run that is kept in mind, the one heard of last at the end.
    public func marks(of station: String) -> [Mark] { runs[station] ?? [] }

    /// Goes on where another one has ended; of a station with several runs in the order of `marks(of:)`.
    public mutating func restore(_ station: String, _ mark: Mark) {
        if Self.numbers.contains(mark.number) { set(station, mark) }
    }

    private mutating func set(_ station: String, _ mark: Mark) {
        var known = runs[station] ?? []
        known.removeAll { $0.boot == mark.boot }
        if known.count == Self.runLimit { known.removeFirst() }
        runs[station] = known + [mark]
    }

    /// Notes a message.
    /// - Parameter made: when, by its own word (nanoseconds of UTC).
    /// - Returns: whether it is new: neither the newest one again, nor one before it that was not missing.
    public mutating func note(
        _ station: String, boot: String, number: Int, made: Int64? = nil, at time: Double
    ) -> Bool {
        guard Self.numbers.contains(number), (1...64).contains(boot.utf8.count) else { return false }
        let known = marks(of: station)
        let mark = known.last { $0.boot == boot }
        // Of a new run all messages from the first one on; of a new station none from before, nor of a run that was over
        // before the present one and that nobody remembers: its events come late, and those before them may have come.
        let newest = known.compactMap(\.made).max()
        let isFormer = made.flatMap { made in newest.map { made < $0 } } ?? false
        let next = mark.map { $0.number + 1 } ?? (known.isEmpty || isFormer ? number : 0)
        guard number >= next else {
            guard
                let i = open.firstIndex(where: {
                    $0.station == station && $0.boot == boot && $0.missing.contains(number)
                })
            else { return false }
            open[i].missing.remove(number)
            if open[i].missing.isEmpty { open.remove(at: i) }
            return true
        }
        set(station, Mark(boot: boot, number: number, made: made ?? mark?.made))
        if number > next, open.count < Self.gapLimit {
            let missing = Set(max(next, number - Self.most)..<number)
            open.append(Open(station: station, boot: boot, missing: missing, next: time))
        }
        return true
    }

    /// Gaps to be asked for now.
    public mutating func due(at time: Double) -> [Gap] {
        var gaps: [Gap] = []
        for i in open.indices where open[i].next <= time {
            guard open[i].asked < Self.pauses.count else {
                lost += open[i].missing.count
                open[i].missing = []
                continue
            }
            open[i].next = time + Self.pauses[open[i].asked]
            open[i].asked += 1
            gaps.append(
                Gap(
                    station: open[i].station, boot: open[i].boot, from: open[i].missing.min() ?? 0,
                    to: open[i].missing.max() ?? 0))
        }
        open.removeAll(where: \.missing.isEmpty)
        return gaps
    }
}
