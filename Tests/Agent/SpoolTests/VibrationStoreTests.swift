import Foundation
import Messages
import TestSupport
import Testing
import Vibration

@testable import Spool

/// Intervals of vibration: as long as is asked for, within their part of the budget, through kills, damage and old files.
@Suite struct VibrationStoreTests {
    /// What a station has measured in an interval, no number twice.
    static func record(_ index: Int, length: Int = 60, seconds: Double? = nil) -> VibrationRecord {
        var record = VibrationRecord()
        record.start = newYear + Int64(index * length) * second
        (record.length, record.seconds, record.gaps) = (length, seconds ?? Double(length), index % 3)
        (record.lower, record.upper, record.pvs) = (1, 80, Double(index) + 0.5)
        for k in 0..<3 {
            let base = Double(index * 32 + k * 8)
            record.axes[k].weighting = ["wd", "wd", "wk"][k]
            record.axes[k].ppv = base
            record.axes[k].frequency = k == 1 ? nil : base + 1
            record.axes[k].rms = base + 2
            (record.axes[k].weightedRMS, record.axes[k].dose) = (base + 5, base + 6)
            // These have 16 bits.
            let short = Double((index * 4 + k) % 250)
            record.axes[k].peak = Double(length * (index % 100 + k)) / 1000
            (record.axes[k].kbFmax, record.axes[k].kbFTm) = (short + 3, short + 4)
            record.axes[k].floor = k == 2 ? nil : short + 7
            (record.axes[k].displacement, record.axes[k].acceleration) = ((short + 1) / 1024, k == 0 ? nil : short + 2)
        }
        record.pvsPeak = index % 7 == 6 ? nil : Double(length * (index % 900)) / 1000
        record.interruptions = .init(rawValue: UInt8(index % 16))
        record.halfCycles = (0..<index % 4).map { k in
            let time = record.start + Int64(length * (index % 100 + k)) * 1_000_000
            return .init(axis: k == 2 ? nil : k, value: Double(index) + 0.25, time: time, frequency: nil)
        }
        return record
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let all = Int64.min / StepLevels.blockLength...Int64.max / StepLevels.blockLength

    private func records(_ spool: inout Spool) throws -> [VibrationRecord] {
        try spool.vibrationBlocks(Self.all).flatMap(\.records)
    }

    /// Also after a kill, with nothing but a commit.
    @Test(arguments: [60, 600, 3600]) func whatWasStoredIsThere(_ length: Int) throws {
        var spool = try folder.open()
        let stored = (0..<100).map { Self.record($0, length: length) }
        for record in stored {
            try spool.storeVibration(record)
            try spool.commit()
        }
        let copy = try folder.killed()
        var again = try copy.open()
        #expect(try records(&again) == stored)
        #expect(try records(&spool) == stored)
        // A part of them, and only so many.
        let first = VibrationBlock.number(at: newYear)
        #expect(try again.vibrationBlocks(first...first).flatMap(\.records).first == stored[0])
        #expect(try again.vibrationBlocks(Self.all, most: 3).count == 3)
        #expect(try again.vibrationBlocks((first - 5)...(first - 1)) == [])
    }

    /// Short intervals are written once a minute, and read before that.
    @Test func shortIntervalsAreWrittenTogether() throws {
        var spool = try folder.open()
        for index in 0..<65 { try spool.storeVibration(Self.record(index, length: 10)) }
        try spool.commit()
        #expect(try records(&spool).count == 65)
        let copy = try folder.killed()
        var again = try copy.open()
        #expect(try records(&again).count == 60)
        try spool.storeVibration()
        try spool.close()
        again = try folder.open()
        #expect(try records(&again) == (0..<65).map { Self.record($0, length: 10) })
    }

    /// The sums of the last two days, after a kill too.
    @Test func whatTheStoredIntervalsHaveComeTo() throws {
        var spool = try folder.open()
        let stored = (0..<3200).map { Self.record($0) }
        for record in stored {
            try spool.storeVibration(record)
            if record.start % 600_000_000_000 == 0 { try spool.commit() }
        }
        try spool.commit()
        var measurement = VibrationMeasurement()
        let now = stored[2990].start + 30 * second
        var wanted = VibrationPast(measurement, offset: 1.5)
        // (Ten minutes are whole: what begins in those of the time two days ago counts.)
        let (from, to) = (now - VibrationPast.reach, now + 3600 * second)
        for record in stored
        where VibrationBlock.number(at: record.start) >= VibrationBlock.number(at: from)
            && VibrationBlock.number(at: record.start) <= VibrationBlock.number(at: to)
        {
            wanted.add(record.interval)
        }
        let copy = try folder.killed()
        var again = try copy.open()
        #expect(try again.vibrationPast(measurement, offset: 1.5, now: now) == wanted)
        #expect(wanted.period.seconds > 0 && wanted.floor.values(axis: 0) != nil)
        // Another length: a dose, and no floor. Other weightings, or other days: nothing.
        measurement.interval = 30
        let dose = try again.vibrationPast(measurement, offset: 1.5, now: now)
        #expect(dose.period == wanted.period && dose.floor == NoiseFloor())
        measurement.weightings = [.wd, .wd, .wb]
        #expect(try again.vibrationPast(measurement, offset: 1.5, now: now).newest == nil)
        let later = now + 40 * 86_400 * second
        #expect(try again.vibrationPast(VibrationMeasurement(), offset: 1.5, now: later).newest == nil)
    }

    /// What has 16 bits is as near as two or three digits, the same before it is written and after.
    @Test(arguments: [0.0, 0.00123, 0.0987, 3.21, 47.11, 1234]) func shortNumbersAreNearEnough(_ number: Double) throws
    {
        var record = Self.record(0, length: 10)
        (record.axes[0].kbFmax, record.axes[1].floor, record.axes[2].acceleration) = (number, number, number)
        (record.axes[0].displacement, record.axes[1].peak, record.pvsPeak) = (number, 3.14159, 9.99999)
        var spool = try folder.open()
        try spool.storeVibration(record)
        let before = try #require(try records(&spool).first)
        for found in [
            before.axes[0].kbFmax, before.axes[1].floor, before.axes[2].acceleration, before.axes[0].displacement,
        ] {
            #expect(abs((found ?? .infinity) - number) <= 0.002 * number)
        }
        #expect(abs(before.axes[1].peak - 3.14159) < 1e-4 && abs((before.pvsPeak ?? 0) - 9.99999) < 1e-4)
        try spool.storeVibration()
        try spool.close()
        var again = try folder.open()
        #expect(try records(&again) == [before])
    }

    /// The frequency of a half cycle comes back within 0.05 %, and hardly higher: a limit is not told to be higher than it is. Of an
    /// interval there may be ten.
    @Test func halfCyclesAreStored() throws {
        var records: [VibrationRecord] = []
        for index in 0..<30 {
            var record = Self.record(index, seconds: index % 3 == 0 ? 59.25 : nil)
            if index % 7 == 3 { record.lower = 0.5 }
            let axes: [Int?] = [0, 1, 2, nil]
            record.halfCycles = []
            for k in 0..<min(index, VibrationInterval.mostHalfCycles) {
                let value = Float(0.01 * Double(k + 1))
                let time = record.start + Int64(k) * 1_234_567_890
                record.halfCycles.append(
                    .init(axis: axes[k % 4], value: Double(value), time: time, frequency: 0.04 + pow(3, Double(k))))
            }
            records.append(record)
        }
        var spool = try folder.open()
        for record in records { try spool.storeVibration(record) }
        try spool.storeVibration()
        let before = try self.records(&spool)
        #expect(before.count == 30)
        for (stored, record) in zip(before, records) {
            #expect(stored.lower == record.lower && stored.seconds == record.seconds)
            #expect(stored.halfCycles.count == record.halfCycles.count)
            for (a, b) in zip(stored.halfCycles, record.halfCycles) {
                let ratio = try #require(a.frequency) / (b.frequency ?? 0)
                #expect(ratio < 1.0002 && ratio > 0.9994 || b.frequency ?? 0 > 3200, "\(ratio)")
                #expect(a.axis == b.axis && a.value == b.value && abs(a.time - b.time) <= 500_000)
            }
        }
        try spool.close()
        var again = try folder.open()
        #expect(try self.records(&again) == before)
    }

    /// A message that is written down again, as after an error of the disk, and an interval that a restart has cut in two.
    @Test func ofTheSameIntervalTheLongerCounts() throws {
        var spool = try folder.open()
        for (index, seconds) in [(1, 20.0), (0, 60), (1, 40), (1, 30), (0, 60)] {
            try spool.storeVibration(Self.record(index, seconds: seconds))
        }
        try spool.close()
        var again = try folder.open()
        #expect(try records(&again) == [Self.record(0), Self.record(1, seconds: 40)])
    }

    /// The time counts that the agent has run, not that of the clock: one that was years ahead leaves no row for ever.
    @Test func theAgeIsThatOfTheAgent() throws {
        var options = folder.options()
        options.keepVibrationSeconds = 400 * 86_400
        var now: Int64 = 0
        var spool = try Spool.open(options, now: now, boot: "a")
        let ahead = 40 * 365 * 1440
        for day in 0..<3 {
            try spool.storeVibration(Self.record(day < 1 ? ahead : 1440 * day))
            now += hour * 24
            try spool.trim(now: now)
        }
        #expect(try records(&spool).count == 3)
        now = 400 * day + hour
        while try !spool.trim(now: now) {}
        #expect(try records(&spool) == [Self.record(1440), Self.record(2880)])
        // Less is asked for; then none.
        options.keepVibrationSeconds = 399 * 86_400
        try spool.reconfigure(options)
        try spool.trim(now: now)
        #expect(try records(&spool) == [Self.record(2880)])
        options.keepVibrationSeconds = 0
        try spool.reconfigure(options)
        try spool.trim(now: now)
        try spool.storeVibration(Self.record(5))
        #expect(try records(&spool) == [])
    }

    /// Where the note of how long the agent has run is lost, rows are no older, and no younger than new ones.
    @Test func agesGoOnFromTheNewestRow() throws {
        var spool = try folder.open(now: 0)
        try spool.trim(now: 100 * day)
        try spool.storeVibration(Self.record(0))
        try spool.database.set(.ages, numbers: [])
        try spool.close()
        var again = try folder.open(now: 0)
        #expect(again.inventory.ages.ran == 100 * day)
        // A damaged row says nothing.
        try again.database.execute("UPDATE vibration SET added = added * 1000")
        try again.database.set(.ages, numbers: [])
        try again.close()
        again = try folder.open(now: 0)
        #expect(again.inventory.ages.ran == 0 && again.statistics.damagedOthers == 1)
        #expect(try records(&again) == [])
    }

    /// A quarter of the budget at most; the oldest go. Essential messages come before vibration.
    @Test func thereIsAShareOfTheBudget() throws {
        var spool = try folder.open(budget: SpoolOptions.leastBudget)
        let share = folder.options(budget: SpoolOptions.leastBudget).vibrationBytes
        for index in 0..<20_000 { try spool.storeVibration(Self.record(index)) }
        try spool.commit()
        let kept = try records(&spool)
        #expect(kept.last == Self.record(19_999) && kept.count % 10 == 0 && kept.count > 5000)
        #expect(kept == (20_000 - kept.count..<20_000).map { Self.record($0) })
        #expect(spool.statistics.fileBytes < share + 200_000)
        for _ in 0..<200 { try spool.put(.of(.essential), [UInt8](repeating: 1, count: 60_000)) }
        #expect(try records(&spool) == [])
        #expect(spool.statistics.dropped.essential > 0)
    }

    /// Tables of version 3 have no vibration; what they have stays, byte for byte.
    @Test(arguments: [2, 3]) func aFileOfAnEarlierVersionIsUpgraded(_ version: Int) throws {
        var spool = try folder.open()
        let key = try spool.put(.of(.essential, event: "e", part: .end), "kept")
        try spool.settle(key, .delivered)
        try spool.put(.of(.essential), "waits")
        try spool.close()
        do {
            let database = Database(folder.database)
            try database.connect()
            try database.execute("DROP TABLE vibration; PRAGMA user_version=\(version)")
            if version < 3 { try database.execute(Schema.fromSecond) }
            database.close()
        }
        var again = try folder.open()
        #expect(again.setAside == nil)
        #expect(again.statistics.keptMessages == 1 && again.statistics.damaged == 0)
        #expect(try again.texts(.essential) == ["waits"])
        try again.storeVibration(Self.record(7))
        try again.close()
        var third = try folder.open()
        #expect(third.setAside == nil)
        #expect(try records(&third) == [Self.record(7)])
    }

    /// Rows of before displacement, acceleration and the time of the vector sum, and before modes had numbers; new intervals
    /// join them.
    @Test func rowsOfAnEarlierVersionAreRead() throws {
        func old(_ record: VibrationRecord) -> VibrationRecord {
            var record = record
            (record.pvsPeak, record.interruptions, record.halfCycles) = (nil, [], [])
            for k in 0..<3 { (record.axes[k].displacement, record.axes[k].acceleration) = (nil, nil) }
            return record
        }
        /// As they were written: 33 words for each.
        func columns(_ records: [VibrationRecord]) -> [UInt8] {
            records.flatMap { record -> [UInt8] in
                let weightings = record.axes.enumerated().reduce(0 as UInt32) { sum, axis in
                    let place = FrequencyWeighting.all.firstIndex { $0.name == axis.element.weighting } ?? 99
                    return sum | UInt32(place + 1) << (4 * UInt32(axis.offset))
                }
                var words = [
                    UInt32((record.start - newYear) / second) | UInt32(record.length) << 16,
                    UInt32(record.gaps) | weightings << 16,
                ]
                let head: [Double?] = [record.seconds, record.lower, record.upper, record.pvs]
                let rest = record.axes.flatMap { one -> [Double?] in
                    [
                        one.ppv, one.peak, one.frequency, one.rms, one.kbFmax, one.kbFTm, one.weightedRMS, one.dose,
                        one.floor,
                    ]
                }
                words += (head + rest).map { Float($0 ?? .nan).bitPattern }
                return words.flatMap { word in (0..<4).map { UInt8(word >> (8 * UInt32($0)) & 255) } }
            }
        }
        var spool = try folder.open()
        let number = VibrationBlock.number(at: newYear)
        var modes = StoredModes(Self.modes(3), added: 0).columns
        modes.removeLast(4)
        modes.removeSubrange((modes.count - 28)..<(modes.count - 24))
        // Before half cycles: 31 words for each, of which the last ten have two numbers.
        func peaks(_ record: VibrationRecord) -> VibrationRecord {
            var record = record
            record.halfCycles = []
            return record
        }
        func later(_ record: VibrationRecord) throws -> [UInt8] {
            let block = try #require(Self.block(peaks(record)))
            var words = stride(from: 0, to: block.count, by: 4).map { Array(block[$0..<$0 + 4]) }
            let shorts = Array(words[2..<12].joined())
            let rest = Array(words[12...])
            let seconds = Float(record.seconds).bitPattern
            words = [words[0], words[1], (0..<4).map { UInt8(seconds >> (8 * UInt32($0)) & 255) }] + rest
            return words.flatMap { $0 } + shorts[2...] + [0, 0]
        }
        let ten = number + 7
        for (key, format, bytes) in [
            (number, VibrationBlock.oldFormat, columns((0..<4).map { old(Self.record($0)) })),
            (ten, VibrationBlock.peaksFormat, try later(Self.record(70)) + later(Self.record(75))),
            (StoredModes.number(at: Self.modes(3).start), StoredModes.oldFormat, modes),
        ] {
            let sum = bytes.withUnsafeBytes { VibrationBlock.sum(key, added: 0, format: format, $0) }
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            try spool.database.execute("INSERT INTO vibration VALUES(\(key), 0, \(format), \(sum), x'\(hex)')")
        }
        try spool.commit()
        let both = [70, 75].map { peaks(Self.record($0)) }
        #expect(try records(&spool) == (0..<4).map { old(Self.record($0)) } + both)
        #expect(try spool.modes(from: newYear, to: .max) == [Self.modes(3)])
        try spool.check()
        #expect(spool.statistics.damagedOthers == 0)
        for index in 4..<7 { try spool.storeVibration(Self.record(index)) }
        try spool.close()
        var again = try folder.open()
        #expect(again.setAside == nil && again.statistics.damagedOthers == 0)
        #expect(try records(&again) == (0..<7).map { $0 < 4 ? old(Self.record($0)) : Self.record($0) } + both)
    }

    /// A row of one interval, as it is written now.
    private static func block(_ record: VibrationRecord) -> [UInt8]? {
        var block = VibrationBlock(number: VibrationBlock.number(at: record.start), added: 0)
        block.add(record)
        return block.columns
    }

    /// A restart of the agent knows the modes again, of however many periods.
    @Test func modesAreFollowedOverRestarts() throws {
        var spool = try folder.open()
        for index in 0..<150 {
            var message = Self.modes(index)
            (message.modes[0].id, message.modes[1].id) = (3, index == 149 ? 9 : nil)
            try spool.storeModes(message)
        }
        try spool.close()
        var again = try folder.open()
        var followed = try again.followedModes()
        var modes = Self.modes(0).modes + [StructureMode(frequency: 9, damping: 0.01, shape: [0, 1, 0], prominence: 9)]
        followed.recognise(&modes)
        #expect(modes.map(\.id) == [3, 9, 10])
    }

    /// A row that is not as it was written is dropped and counted; an index that has lost a row is made again.
    @Test func damageIsFound() throws {
        var spool = try folder.open()
        for index in 0..<30 { try spool.storeVibration(Self.record(index)) }
        try spool.commit()
        try spool.database.execute("UPDATE vibration SET columns = zeroblob(124) WHERE number % 3 = 0")
        #expect(try records(&spool).count == 20)
        #expect(spool.unread == 1)
        try spool.check()
        #expect(spool.statistics.damagedOthers == 1 && spool.takeFinding() != nil)
        #expect(try records(&spool).count == 20)
        #expect(spool.unread == 1)
    }

    /// What is taken over from a damaged file: all rows whose pages can be read, with their age.
    @Test func rowsAreTakenOverFromADamagedFile() throws {
        var spool = try folder.open(now: 0)
        for index in 0..<300 {
            if index == 100 { try spool.trim(now: 10 * day) }
            try spool.storeVibration(Self.record(index))
        }
        try spool.setFact("f", [1])
        try spool.close()
        let database = Database(folder.database)
        try database.connect()
        let root = try #require(try database.number("SELECT rootpage FROM sqlite_schema WHERE name = 'facts'"))
        database.close()
        let url = URL(fileURLWithPath: folder.database)
        var bytes = try Data(contentsOf: url)
        for place in 0..<4096 { bytes[(Int(root) - 1) * 4096 + place] = 0x5A }
        try bytes.write(to: url)
        var again = try folder.open(now: 0)
        #expect(again.setAside != nil)
        #expect(try records(&again) == (0..<300).map { Self.record($0) })
        #expect(again.inventory.ages.ran == 10 * day && again.inventory.vibration.rows == 30)
    }

    static func modes(_ index: Int, count: Int = 2) -> ModesMessage {
        var message = ModesMessage()
        (message.start, message.seconds, message.segments) = (newYear + Int64(index) * hour + 40 * second, 3560, 87)
        message.temperature = index % 2 == 0 ? nil : 21.5
        message.modes = (0..<count).map {
            StructureMode(
                frequency: 2.5 + Double($0), damping: 0.0078125, shape: [1, -0.5, 0.25], prominence: Double(index))
        }
        return message
    }

    /// Modes stand in the same table, as long as intervals, and none is taken for the other.
    @Test func modesAreThereToo() throws {
        var spool = try folder.open(now: 0)
        for index in 0..<30 {
            try spool.storeVibration(Self.record(index * 60))
            try spool.storeModes(Self.modes(index, count: index % 13))
        }
        // Again, as after an error of the disk.
        try spool.storeModes(Self.modes(29, count: 3))
        try spool.commit()
        var again = try folder.killed().open(now: 0)
        let wanted = (0..<30).map { Self.modes($0, count: $0 == 29 ? 3 : $0 % 13) }
        #expect(try again.modes(from: newYear, to: newYear + 2 * day) == wanted)
        #expect(try again.modes(from: newYear + hour, to: newYear + 3 * hour) == Array(wanted[1...2]))
        #expect(try again.modes(from: newYear, to: .max, most: 4) == Array(wanted.prefix(4)))
        #expect(try records(&again) == (0..<30).map { Self.record($0 * 60) })
        #expect(again.inventory.vibration.rows == 60 && again.statistics.damagedOthers == 0)
        while try !again.trim(now: 401 * day) {}
        #expect(try again.modes(from: newYear, to: .max) == [] && again.inventory.vibration.rows == 0)
        try spool.database.execute("UPDATE vibration SET columns = zeroblob(124) WHERE format = 4 AND number % 12 = 4")
        try spool.check()
        #expect(try spool.modes(from: newYear, to: .max).count + spool.statistics.damagedOthers == 30)
        #expect(spool.statistics.damagedOthers > 0 && spool.unread == 0)
    }

    /// How much a day writes to the card, and how much a year takes.
    @Test func whatADayWrites() throws {
        var spool = try folder.open()
        for index in 0..<1440 {
            try spool.storeVibration(Self.record(index))
            try spool.commit()
            if index % 10 == 9 { try spool.checkpoint(whole: true) }
        }
        let (written, file) = (spool.statistics.bytesWritten, spool.statistics.fileBytes)
        print("vibration: a day writes \(written / 1000) kB, and takes \(file / 1000) kB of the file")
        #expect(written < 16_000_000 && file < 300_000)
    }
}
