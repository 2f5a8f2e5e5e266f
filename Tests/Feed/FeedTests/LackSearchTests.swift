import Testing

@testable import Feed

/// A channel of the ring with records of 4 s at 100 Hz, which counts what is read of it.
private final class CountedRing {
    static let (rate, step): (Double, Int64) = (100, 10_000_000)
    private static let second: Int64 = 1_000_000_000

    private(set) var rows = 0
    private var records: [(start: Int64, end: Int64)] = []
    private var declared: [ClosedRange<Int64>] = []

    /// Seconds after the ring's begin, in 2026.
    static func time(_ seconds: Int) -> Int64 { 1_767_225_600_000_000_000 + Int64(seconds) * second }

    /// - Parameters:
    ///   - seconds: what the ring has, a multiple of 4.
    ///   - holes: seconds that were declared missing, multiples of 4.
    ///   - late: seconds that came nevertheless, or before the ring's begin.
    init(seconds: Int, holes: [Range<Int>] = [], late: [Range<Int>] = []) {
        let parts = stride(from: 0, to: seconds, by: 4).filter { start in !holes.contains { $0.contains(start) } }
        let more = late.flatMap { Array(stride(from: $0.lowerBound, to: $0.upperBound, by: 4)) }
        records = (parts + more).sorted().map { (Self.time($0), Self.time($0 + 4) - Self.step) }
        declared = holes.map { Self.time($0.lowerBound)...Self.time($0.upperBound) }
    }

    func search(
        _ range: ClosedRange<Int64>, rows limit: Int = 1000, most: Int64 = 10_800 * 1_000_000_000
    ) -> [ClosedRange<Int64>] {
        rows = 0
        var search = LackSearch(rows: limit, most: most)
        let gaps = search.gaps(range, begin: Self.time(0), rate: Self.rate, rows: limit) { until, most in
            let found = declared.filter { $0.lowerBound <= until }.reversed().prefix(most)
            rows += 1 + found.count
            return Array(found)
        } records: { time, most in
            let found = records.filter { $0.start <= time.upperBound && $0.end >= time.lowerBound }.suffix(most)
            rows += 1 + found.count
            return Array(found)
        }
        #expect(search.left >= 0 && limit - search.left <= limit)
        return gaps
    }

    /// What the records lack, by looking at all of them.
    func all(_ range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
        Coverage.united(Coverage.gaps(range, records: records, rate: Self.rate))
    }
}

struct LackSearchTests {
    private static let year1970: Int64 = 0

    @Test func aRequestFrom1970LooksAtFewRowsOfALongRing() {
        // A week: 151 200 records.
        let week = 7 * 86_400
        let whole = CountedRing(seconds: week)
        let range = Self.year1970...(CountedRing.time(week) - CountedRing.step)
        #expect(whole.search(range) == whole.all(range))
        #expect(whole.rows <= 2)
        let holed = CountedRing(seconds: week, holes: [4000..<4400, 300_000..<300_004])
        #expect(holed.search(range) == holed.all(range))
        #expect(holed.rows <= 20)
    }

    @Test func neverLooksAtMoreRowsThanItMay() {
        // Two days of holes with records that came late, and before the begin another day of them.
        let ring = CountedRing(
            seconds: 400_000, holes: [100_000..<272_800],
            late: [100_000..<180_000, 200_000..<272_800, -86_400..<(-4000)])
        let range = Self.year1970...CountedRing.time(399_000)
        for limit in [0, 1, 2, 3, 10, 100, 1000, 20_000] {
            let gaps = ring.search(range, rows: limit)
            #expect(ring.rows <= limit + 2, "limit \(limit)")
            // What it says is missing is missing.
            let all = ring.all(range)
            for gap in gaps {
                #expect(all.contains { $0.lowerBound <= gap.lowerBound && $0.upperBound >= gap.upperBound })
            }
        }
        #expect(!ring.search(range, rows: 20_000).isEmpty)
    }

    @Test func findsTheSameAsALookAtAllRecords() {
        let ring = CountedRing(
            seconds: 4000, holes: [400..<480, 1000..<1400, 3000..<3004], late: [440..<460, 1000..<1100, -400..<(-200)])
        for (from, to) in [
            (-1000, 4000), (0, 4000), (410, 450), (1050, 1090), (1050, 1200), (-300, -250), (-900, -500),
        ] {
            let range = CountedRing.time(from)...(CountedRing.time(to) - CountedRing.step)
            #expect(ring.search(range) == ring.all(range), "\(from) to \(to)")
        }
    }

    @Test func beginsWithTheNewestAndEndsWhenThereIsEnough() {
        let ring = CountedRing(seconds: 40_000, holes: [400..<480, 20_000..<20_400, 30_000..<30_400])
        let range = CountedRing.time(0)...CountedRing.time(39_000)
        let gaps = ring.search(range, most: 300 * 1_000_000_000)
        #expect(gaps == ring.all(CountedRing.time(29_000)...CountedRing.time(39_000)))
    }

    @Test func theNewestOfSomeRanges() {
        #expect(Coverage.newest([0...10, 20...30, 40...50], lasting: 15) == [40...50, 25...30])
        #expect(Coverage.newest([0...10], lasting: 100) == [0...10])
        #expect(Coverage.newest([Int64.min / 2...10], lasting: 4) == [6...10])
        #expect(Coverage.newest([], lasting: 5) == [])
    }
}
