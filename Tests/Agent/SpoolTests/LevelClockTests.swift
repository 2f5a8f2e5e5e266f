import MiniSEED
import TestSupport
import Testing

@testable import Spool

/// The places of the levels' rows follow from the time of the day: a clock that is wrong must not take those of others.
@Suite struct LevelClockTests {
    private static let block: Int64 = 600 * second

    /// A piece in each of so many blocks from a time on.
    private static func fill(_ spool: inout Spool, from start: Int64, blocks: Int) throws {
        for index in 0..<Int64(blocks) {
            let time = start + index * block
            var writer = try MiniSEEDWriter(format: .v2)
            var bytes: [UInt8] = []
            let counts = [Int32](repeating: 7, count: 10)
            _ = try counts.withUnsafeBufferPointer {
                try writer.encode(
                    $0, start: time, rate: 100,
                    source: SourceIdentifier(
                        network: "XX", station: "A", location: "00", band: "H", source: "N", subsource: "Z"),
                    into: &bytes)
            }
            let segment = RingSegment(
                start: time, end: time + 90_000_000, samples: 10, rate: 100, format: .v2, unit: 1e-4)
            try spool.appendSegment(segment, bytes)
        }
        try spool.storeLevels()
        try spool.commit()
    }

    private static func missing(_ spool: inout Spool, from start: Int64, blocks: Int) throws -> Int {
        let first = StepLevels.block(at: start)
        return try (0..<Int64(blocks)).count { try spool.levels(first + $0) == nil }
    }

    /// Defect: two days with a clock that was 19.6 years ahead, or had never been set, took the places of two days of the
    /// month before.
    @Test(arguments: [1024 * 7 * day, -1024 * 7 * day, 45 * day, -20 * day, -newYear])
    func aWrongClockTakesNoPlaceOfTheRight(by error: Int64) throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        let month = 31 * 144
        try Self.fill(&spool, from: newYear, blocks: month)
        try Self.fill(&spool, from: newYear + 31 * day + error, blocks: 288)
        #expect(try Self.missing(&spool, from: newYear, blocks: month) == 0)
        #expect(try Self.missing(&spool, from: newYear + 31 * day + error, blocks: 288) == 0)
        // It is put right, and wrong once more after a start: the day that goes is the one a month ago.
        try Self.fill(&spool, from: newYear + 33 * day, blocks: 144)
        try spool.close()
        var again = try folder.open()
        try Self.fill(&again, from: newYear + 34 * day + error, blocks: 144)
        #expect(try Self.missing(&again, from: newYear, blocks: month) == 144)
        #expect(try Self.missing(&again, from: newYear + 2 * day, blocks: 144) == 144)
        #expect(try Self.missing(&again, from: newYear + 33 * day, blocks: 144) == 0)
    }

    /// After a year without the agent the rows of before make room, and there are never more than two for a place.
    @Test func aLongPauseCostsNothingNew() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        for start in [newYear, newYear + 365 * day, newYear + 3 * 365 * day, newYear - 400 * day] {
            try Self.fill(&spool, from: start, blocks: 300)
            #expect(try Self.missing(&spool, from: start, blocks: 300) == 0)
        }
        let rows = try spool.database.number("SELECT count(*) FROM levels") ?? 0
        #expect(rows <= 2 * spool.levelSlots)
    }
}
