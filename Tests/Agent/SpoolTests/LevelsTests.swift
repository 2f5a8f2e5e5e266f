import Foundation
import Messages
import MiniSEED
import TestSupport
import Testing

@testable import Spool

/// Levels of the past: by minute, and the upgrade of files that have none.
@Suite struct LevelsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let unit = 1e-4

    /// Counts of x, y and z at a sample: z with gravity.
    private static func count(_ axis: Int, _ index: Int) -> Int32 {
        var state = UInt64(index &* 3 &+ axis) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 31
        return Int32(truncatingIfNeeded: state & 1023) - 512 + (axis == 2 ? 98_066 : 0)
    }

    /// A piece of the ring from a sample on, at 100 Hz from the new year on.
    static func piece(
        from index: Int, count: Int, format: MiniSEEDFormat = .v2, unit: Double? = LevelsTests.unit
    ) throws -> (RingSegment, [UInt8]) {
        var writer = try MiniSEEDWriter(format: format)
        var bytes: [UInt8] = []
        let start = newYear + Int64(index) * 10_000_000
        for axis in 0..<3 {
            let counts = (index..<index + count).map { Self.count(axis, $0) }
            _ = try counts.withUnsafeBufferPointer {
                try writer.encode(
                    $0, start: start, rate: 100,
                    source: SourceIdentifier(
                        network: "XX", station: "A", location: "00", band: "H", source: "N",
                        subsource: ["E", "N", "Z"][axis]), into: &bytes)
            }
        }
        let segment = RingSegment(
            start: start, end: start + Int64(count - 1) * 10_000_000, samples: count, rate: 100, format: format,
            unit: unit)
        return (segment, bytes)
    }

    /// Smallest, largest and scatter of samples, by the plain formula.
    private static func truth(_ axis: Int, _ range: Range<Int>) -> (Double, Double, Double) {
        let values = range.map { Double(count(axis, $0)) * unit }
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return (values.min() ?? 0, values.max() ?? 0, (squares / Double(values.count)).squareRoot())
    }

    private static func expect(_ cell: AxisLevels, _ axis: Int, _ range: Range<Int>, _ note: String) {
        let (least, most, rms) = truth(axis, range)
        #expect(cell.samples == range.count, "\(note)")
        #expect(abs(cell.least - least) < 1e-5 && abs(cell.most - most) < 1e-5, "\(note)")
        #expect(abs(cell.rms - rms) < 1e-6, "\(note): \(cell.rms), not \(rms)")
    }

    /// The same numbers from the samples, from minutes and from minutes of minutes, however the pieces are cut.
    @Test(arguments: [MiniSEEDFormat.v2, .v3], [1000, 730, 61]) func minutesAreThoseOfTheSamples(
        _ format: MiniSEEDFormat, _ length: Int
    ) throws {
        var spool = try folder.open(ring: 86_400)
        var index = 0
        while index < 70_000 {
            let (segment, bytes) = try Self.piece(from: index, count: length, format: format)
            try spool.appendSegment(segment, bytes)
            index += length
        }
        try spool.commit()
        let first = StepLevels.block(at: newYear)
        let block = try #require(try spool.levels(first))
        for minute in [0, 1, 9] {
            for axis in 0..<3 {
                Self.expect(
                    block.cells[3 * minute + axis], axis, minute * 6000..<(minute + 1) * 6000, "minute \(minute)")
            }
        }
        var hour = StepLevels(start: newYear, step: 600_000_000_000, count: 1)
        hour.add(block)
        for axis in 0..<3 { Self.expect(hour.cells[axis], axis, 0..<60_000, "ten minutes") }
        #expect(try spool.levels(first - 1) == nil && spool.levels(first + 2) == nil)
    }

    /// Nothing is lost by a kill: what was not written down is made again of the ring.
    @Test func aKilledProcessLeavesTheOpenMinutes() throws {
        var spool = try folder.open()
        for index in stride(from: 0, to: 90_000, by: 1000) {
            let (segment, bytes) = try Self.piece(from: index, count: 1000)
            try spool.appendSegment(segment, bytes)
            try spool.commit()
            guard index % 13_000 == 0 else { continue }
            let copy = try folder.killed()
            var again = try copy.open()
            for number in 0...1 {
                let number = StepLevels.block(at: newYear) + Int64(number)
                let (one, other) = (try spool.levels(number), try again.levels(number))
                #expect(one?.cells.map(\.samples) == other?.cells.map(\.samples), "after \(index)")
            }
        }
        let (first, second) = (
            try spool.levels(StepLevels.block(at: newYear)), try spool.levels(StepLevels.block(at: newYear) + 1)
        )
        #expect(first?.cells.map(\.samples) == [Int](repeating: 6000, count: 30))
        #expect(second?.cells.prefix(15).map(\.samples) == [Int](repeating: 6000, count: 15))
        // A write that fails takes them back as well.
        let before = try spool.levels(StepLevels.block(at: newYear) + 1)
        let (segment, bytes) = try Self.piece(from: 90_000, count: 1000)
        try spool.appendSegment(segment, bytes)
        _ = spool.undo(SpoolError(file: "", errno: 5))
        #expect(try spool.levels(StepLevels.block(at: newYear) + 1) == before)
    }

    /// A month and no more, in its place of the budget, whatever the clock does.
    @Test func aMonthIsKept() throws {
        var spool = try folder.open()
        #expect(spool.levelSlots == 31 * 144)
        let blocks = 31 * 144 + 100
        for block in 0..<blocks {
            let (segment, bytes) = try Self.piece(from: block * 60_000, count: 10)
            try spool.appendSegment(segment, bytes)
        }
        try spool.storeLevels()
        try spool.commit()
        let first = StepLevels.block(at: newYear)
        #expect(try spool.levels(first + 99) == nil)
        for block in [100, 2000, blocks - 1] {
            #expect(try spool.levels(first + Int64(block))?.cells.map(\.samples).prefix(3) == [10, 10, 10])
        }
        #expect(spool.statistics.fileBytes < 6_000_000 + spool.statistics.ringBytes)
    }

    /// What is not what was written is as if it were not there.
    @Test func aDamagedRowIsNone() throws {
        var spool = try folder.open()
        for index in [0, 60_000] {
            let (segment, bytes) = try Self.piece(from: index, count: 1000)
            try spool.appendSegment(segment, bytes)
        }
        try spool.commit()
        #expect(try spool.levels(StepLevels.block(at: newYear)) != nil)
        try spool.database.execute("UPDATE levels SET columns = zeroblob(600)")
        #expect(try spool.levels(StepLevels.block(at: newYear)) == nil)
    }

    /// Tables of the version before are taken over with all that they have.
    @Test func aFileOfTheFirstVersionIsUpgraded() throws {
        _ = try folder.open()
        do {
            let database = Database(folder.database)
            try database.connect()
            try database.execute("DROP TABLE vibration; DROP TABLE levels; DROP TABLE ring; DROP TABLE facts")
            for statement in Schema.first.suffix(2) { try database.execute(statement) }
            try database.execute("PRAGMA user_version=1")
            let (segment, bytes) = try Self.piece(from: 0, count: 1000, format: .v3, unit: nil)
            var row = segment
            (row.slot, row.number) = (1, 1)
            let hex = bytes.map { String(format: "%02x", $0) }.joined()
            let sum = bytes.withUnsafeBytes { row.checksum($0) }
            try database.execute(
                "INSERT INTO ring VALUES(1, 1, \(row.start), \(row.end), 1000, 100, 3, \(sum), x'\(hex)')")
            database.close()
        }
        var spool = try folder.open()
        #expect(spool.setAside == nil)
        let piece = try #require(spool.segments(from: newYear, to: .max).first)
        #expect(try spool.records(of: piece)?.isEmpty == false)
        // What a count was then is not known.
        #expect(try spool.levels(StepLevels.block(at: newYear)) == nil || spool.inventory.levels?.samples == 0)
        let (segment, bytes) = try Self.piece(from: 1000, count: 1000)
        try spool.appendSegment(segment, bytes)
        try spool.close()
        var again = try folder.open()
        #expect(again.setAside == nil && again.statistics.ringSegments == 2)
        #expect(try again.levels(StepLevels.block(at: newYear))?.cells[0].samples == 1000)
    }

    /// Steps shorter than a minute that have nothing of their own take the minute's.
    @Test func minutesFillShorterSteps() throws {
        var fine = StepLevels(start: newYear, step: 10 * second, count: 60)
        var (decoder, values) = (MiniSEEDDecoder(), [Double]())
        let (_, bytes) = try Self.piece(from: 12_000, count: 6000)
        bytes.withUnsafeBytes { fine.add($0, unit: Self.unit, with: &decoder, &values) }
        Self.expect(fine.cells[3 * 12], 0, 12_000..<13_000, "ten seconds")
        #expect(fine.cells[3 * 11].samples == 0 && fine.cells[3 * 18].samples == 0)
        var block = StepLevels(block: StepLevels.block(at: newYear))
        let (_, minute) = try Self.piece(from: 0, count: 18_000)
        minute.withUnsafeBytes { block.add($0, unit: Self.unit, with: &decoder, &values) }
        fine.add(block, fillingUntil: newYear + 125 * second)
        for step in 0..<12 {
            Self.expect(fine.cells[3 * step + 2], 2, step / 6 * 6000..<(step / 6 + 1) * 6000, "filled")
        }
        Self.expect(fine.cells[3 * 12], 0, 12_000..<13_000, "its own")
        var other = StepLevels(start: newYear, step: 10 * second, count: 60)
        other.add(block, fillingUntil: newYear + 59 * second)
        #expect(other.cells[12].samples == 6000 && other.cells[15].samples == 0)
        #expect(fine.cells[3 * 18].samples == 0)
    }

    /// Minutes cost little beside the ring: a card wears out by what is written.
    @Test func whatADayOfMinutesWrites() throws {
        // A quarter of a day.
        let pieces = try (0..<2160).map { try Self.piece(from: $0 * 1000, count: 1000) }
        var written: [Int] = []
        for unit in [nil, Self.unit] as [Double?] {
            let folder = try TemporaryFolder()
            var spool = try folder.open()
            for (index, (segment, bytes)) in pieces.enumerated() {
                var segment = segment
                segment.unit = unit
                try spool.appendSegment(segment, bytes)
                try spool.commit()
                try spool.checkpoint(whole: index % 60 == 59)
            }
            written.append(4 * spool.statistics.bytesWritten)
        }
        print("levels: a day of the ring writes \(written[0] / 1000) kB, with minutes \(written[1] / 1000) kB")
        #expect(written[1] - written[0] < 6_000_000)
    }
}
