/// The clock behind the records of one channel: which of them follow each other, and the true rate that their own times
/// tell, which the rate in their headers need not be.
///
/// A gap is what deviates by more than 1.5 samples from where the record before, at the rate that is known by then, ends.
/// A smaller deviation may be a clock that runs otherwise than the header says. Where the times are steady otherwise, a
/// record that is one sample late (0.75 to 1.5) at the rate of all records follows a gap of one sample (see
/// ``stretches(rate:)``; libmseed and ObsPy call it one beyond half a sample).
public struct RecordClock: Sendable {
    /// The time of a record's first sample in nanoseconds, and its samples.
    public struct Record: Sendable, Equatable {
        public var start: Int64
        public var count: Int

        public init(start: Int64, count: Int) { (self.start, self.count) = (start, count) }
    }

    /// The part of a record that is used.
    public struct Piece: Sendable, Equatable {
        /// Number of the record.
        public var record: Int
        /// Samples at its start that came before already.
        public var skip: Int
        public var count: Int
        /// Time of the first of these samples by the record, in nanoseconds.
        public var time: Int64
        /// Samples are missing before it.
        public var isGap: Bool
    }

    /// In the order of time.
    public private(set) var pieces: [Piece] = []
    /// Samples that were there twice.
    public private(set) var duplicates = 0
    /// Nanoseconds from sample to sample that the records' times allow; nil: they tell nothing.
    public private(set) var periods: ClosedRange<Double>?
    /// Samples of the stretches from which that is known.
    public private(set) var known = 0

    /// Deviation in samples beyond which it is a gap, or samples that are there twice.
    static let gap = 1.5
    /// Samples by which a record is late, at the known rate, when one is missing before it; and those by which most of the
    /// records of a steady clock may differ from where the one before ends.
    static let missing = 0.75
    static let steady = 0.1
    /// Part by which a header's rate may be off; beyond it a clock is not the cause.
    static let farthest = 0.05
    /// Half of a step of version 2's times, ns.
    private static let rounding = 51_000.0

    /// - Parameters:
    ///   - records: in the order of time.
    ///   - rate: as the headers say it, in Hz.
    public init(_ records: [Record], rate: Double) {
        let header = 1e9 / rate
        let near = header * (1 - Self.farthest)...header * (1 + Self.farthest)
        var period = Self.usualPeriod(records, near) ?? header
        var last: Record?
        for (number, record) in records.enumerated() where record.count > 0 {
            var late = Double.infinity
            if let last {
                late = (Double(record.start &- last.start) - period * Double(last.count)) / period
                let apparent = Double(record.start &- last.start) / Double(last.count)
                if abs(late) <= Self.gap, near.contains(apparent) { period += (apparent - period) / 16 }
            }
            let skip = late < -Self.gap ? min(record.count, max(0, Int((-late).rounded()))) : 0
            duplicates += skip
            guard skip < record.count else { continue }
            let time = record.start &+ Int64((Double(skip) * period).rounded())
            pieces.append(
                Piece(record: number, skip: skip, count: record.count - skip, time: time, isGap: late > Self.gap))
            last = record
        }
        findPeriods(header)
    }

    /// The median of what the borders of records tell; nil where it is not that of most of them.
    private static func usualPeriod(_ records: [Record], _ near: ClosedRange<Double>) -> Double? {
        guard records.count > 3 else { return nil }
        var borders: [Double] = []
        for (a, b) in zip(records, records.dropFirst()) where a.count > 0 {
            let period = Double(b.start &- a.start) / Double(a.count)
            if near.contains(period) { borders.append(period) }
        }
        guard borders.count >= 3, borders.count * 2 >= records.count - 1 else { return nil }
        return borders.sorted()[borders.count / 2]
    }

    /// Straight lines through the records' times: within their rounding where that goes, else within a part of a sample.
    private mutating func findPeriods(_ header: Double) {
        var lines = Self.lines(pieces, tolerance: min(Self.rounding, header / 4), header)
        for part in [0.25, Self.gap / 2] {
            let wider = Self.lines(pieces, tolerance: header * part, header)
            if wider.count < lines.count { lines = wider }
        }
        for line in lines.sorted(by: { $0.samples > $1.samples }) {
            let before = periods ?? -Double.infinity...Double.infinity
            let low = max(before.lowerBound, line.periods.lowerBound)
            let high = min(before.upperBound, line.periods.upperBound)
            guard low <= high, low.isFinite, high.isFinite else { continue }
            periods = low...high
            known += line.samples
        }
    }

    private static func lines(
        _ pieces: [Piece], tolerance: Double, _ header: Double
    ) -> [(periods: ClosedRange<Double>, samples: Int)] {
        var found: [(ClosedRange<Double>, Int)] = []
        var line = FeasibleLine(tolerance: tolerance, slope: header)
        var (origin, place): (Int64, Double) = (0, 0)
        for piece in pieces {
            if piece.isGap || !line.add(place, Double(piece.time &- origin)) {
                if line.count > 1 { found.append((line.slopes, Int(place))) }
                line.restart()
                (origin, place) = (piece.time, 0)
                _ = line.add(0, 0)
            }
            place += Double(piece.count)
        }
        if line.count > 1 { found.append((line.slopes, Int(place))) }
        return found
    }

    /// The rate that the headers say where the records' times allow it or differ by less than 10⁻⁵, else the true one.
    /// - Parameters:
    ///   - clocks: of channels of one digitizer.
    ///   - header: rate as the headers say it, in Hz.
    public static func rate(_ clocks: [RecordClock], header: Double) -> Double {
        var common: ClosedRange<Double>?
        for clock in clocks.sorted(by: { $0.known > $1.known }) {
            guard let periods = clock.periods else { continue }
            let before = common ?? periods
            let (low, high) = (
                max(before.lowerBound, periods.lowerBound), min(before.upperBound, periods.upperBound)
            )
            if low <= high { common = low...high }
        }
        guard let common else { return header }
        let period = min(max(1e9 / header, common.lowerBound), common.upperBound)
        guard abs(period * header / 1e9 - 1) > 1e-5 else { return header }
        let middle = 2e9 / (common.lowerBound + common.upperBound)
        return abs(middle / header - 1) <= farthest ? middle : header
    }

    /// Samples that are evenly apart at a rate.
    public struct Stretch: Sendable, Equatable {
        /// Numbers of its pieces.
        public var pieces: Range<Int>
        /// Time of its first sample in nanoseconds.
        public var start: Int64
        public var count: Int
        /// Samples are missing before it, at least one; false: the clock is set by a part of a sample.
        public var isGap: Bool
    }

    /// Samples by which each piece but the first begins later than the one before it ends.
    private func lateness(_ period: Double) -> [Double] {
        zip(pieces, pieces.dropFirst()).map { before, piece in
            Double(piece.time &- before.time) / period - Double(before.count)
        }
    }

    /// Stretches at a rate, in which each record's first sample is within a fifth of a sample of the record's time.
    public func stretches(rate: Double) -> [Stretch] {
        let period = 1e9 / rate
        var found: [Stretch] = []
        var (first, samples): (Int, Int) = (0, 0)
        var offsets: ClosedRange<Double> = 0...0
        var isGap = pieces.first?.isGap ?? false
        let late = lateness(period)
        let isSteady = !late.isEmpty && late.map(abs).sorted()[(late.count - 1) / 2] <= Self.steady
        func close(_ end: Int) {
            guard end > first else { return }
            let start = pieces[first].time &+ Int64(((offsets.lowerBound + offsets.upperBound) / 2).rounded())
            found.append(Stretch(pieces: first..<end, start: start, count: samples, isGap: isGap))
        }
        for (number, piece) in pieces.enumerated() {
            let offset =
                number == first ? 0 : Double(piece.time &- pieces[first].time) - Double(samples) * period
            let wider = min(offsets.lowerBound, offset)...max(offsets.upperBound, offset)
            if number > first, piece.isGap || wider.upperBound - wider.lowerBound > 0.4 * period {
                close(number)
                isGap = piece.isGap || (isSteady && late[number - 1] >= Self.missing)
                (first, samples, offsets) = (number, 0, 0...0)
            } else if number > first {
                // (Rounded times of version 2 do not move a start that is written.)
                if wider.upperBound - wider.lowerBound > 2 * Self.rounding { offsets = wider }
            }
            samples += piece.count
        }
        close(pieces.count)
        return found
    }
}

/// All straight lines that pass every point of a growing series within a tolerance, found in constant time a point on
/// average and without keeping the points.
///
/// Stamps that are rounded to a resolution are such points: the number of the sample, and its time. J. O'Rourke,
/// CACM 24 (1981) 574; in the form of P. Ferragina and G. Vinciguerra, PVLDB 13 (2020) 1162.
public struct FeasibleLine: Sendable {
    private struct Point {
        var x: Double
        var y: Double

        /// Whether the way from `a` to this point is flatter than the way from `c` to `d`; all lead to the right.
        func isFlatter(from a: Point, than d: Point, from c: Point) -> Bool {
            (y - a.y) * (d.x - c.x) < (d.y - c.y) * (x - a.x)
        }
    }

    /// Largest distance of a point from the line.
    private let tolerance: Double
    /// A slope that is taken off each point, so that differences of large numbers stay exact.
    private let slope: Double
    /// Points that lie on the lines.
    public private(set) var count = 0
    private var lower: [Point] = []
    private var upper: [Point] = []
    private var lowerStart = 0
    private var upperStart = 0
    /// The flattest line passes through the first two, the steepest through the others.
    private var flat = (Point(x: 0, y: 0), Point(x: 0, y: 0))
    private var steep = (Point(x: 0, y: 0), Point(x: 0, y: 0))

    /// - Parameters:
    ///   - tolerance: above 0.
    ///   - slope: about that of the lines.
    public init(tolerance: Double, slope: Double) { (self.tolerance, self.slope) = (tolerance, slope) }

    /// Forgets all points.
    public mutating func restart() { count = 0 }

    /// Takes a point to the right of all others; false, and nothing has changed, where no line passes it as well.
    public mutating func add(_ x: Double, _ y: Double) -> Bool {
        let y = y - slope * x
        let above = Point(x: x, y: y + tolerance)
        let below = Point(x: x, y: y - tolerance)
        if count == 0 {
            (flat.0, steep.0) = (above, below)
            lower.removeAll(keepingCapacity: true)
            upper.removeAll(keepingCapacity: true)
            (lowerStart, upperStart) = (0, 0)
            upper.append(above)
            lower.append(below)
        } else if count == 1 {
            (flat.1, steep.1) = (below, above)
            upper.append(above)
            lower.append(below)
        } else {
            if above.isFlatter(from: flat.1, than: flat.1, from: flat.0)
                || steep.1.isFlatter(from: steep.0, than: below, from: steep.1)
            {
                return false
            }
            if above.isFlatter(from: steep.0, than: steep.1, from: steep.0) {
                steep.0 = Self.tilt(to: above, isSteep: true, through: lower, &lowerStart, &upper, upperStart)
                steep.1 = above
            }
            if flat.1.isFlatter(from: flat.0, than: below, from: flat.0) {
                flat.0 = Self.tilt(to: below, isSteep: false, through: upper, &upperStart, &lower, lowerStart)
                flat.1 = below
            }
        }
        count += 1
        return true
    }

    /// Finds the point of a hull through which the steepest line to a new point leads, or the flattest, forgets those before
    /// it, and makes the new point one of the other hull.
    private static func tilt(
        to point: Point, isSteep: Bool, through hull: [Point], _ start: inout Int, _ other: inout [Point],
        _ otherStart: Int
    ) -> Point {
        var best = start
        for i in (start + 1)..<max(hull.count, start + 1) {
            let (a, b) = isSteep ? (hull[best], hull[i]) : (hull[i], hull[best])
            if point.isFlatter(from: a, than: point, from: b) { break }
            best = i
        }
        start = best
        while other.count >= otherStart + 2 {
            let before = other[other.count - 2]
            let (a, c) = isSteep ? (before, point) : (point, before)
            if turnsLeft(a, other[other.count - 1], c) { break }
            other.removeLast()
        }
        other.append(point)
        return hull[best]
    }

    private static func turnsLeft(_ a: Point, _ b: Point, _ c: Point) -> Bool {
        (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0
    }

    /// Slopes of all lines; of one point alone anything.
    public var slopes: ClosedRange<Double> {
        guard count > 1 else { return -.infinity ... .infinity }
        let low = (flat.1.y - flat.0.y) / (flat.1.x - flat.0.x)
        let high = (steep.1.y - steep.0.y) / (steep.1.x - steep.0.x)
        return slope + min(low, high)...slope + max(low, high)
    }

    /// Height of the line in the middle of all lines.
    public func value(at x: Double) -> Double {
        guard count > 1 else { return (flat.0.y + steep.0.y) / 2 + slope * x }
        let low = (flat.1.y - flat.0.y) / (flat.1.x - flat.0.x)
        let high = (steep.1.y - steep.0.y) / (steep.1.x - steep.0.x)
        let (a, b) = (flat.0.y + low * (x - flat.0.x), steep.0.y + high * (x - steep.0.x))
        return (a + b) / 2 + slope * x
    }
}
