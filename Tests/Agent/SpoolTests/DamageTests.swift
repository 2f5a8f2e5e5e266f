import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

/// Damaged files: the spool opens always, gives back only what was put in, and works afterwards.
@Suite struct SpoolDamageTests {
    enum Damage: String, CaseIterable {
        case truncate, flip, flipMany, zeroPage, garbagePage, swapPages, garbage, empty, grow
    }

    /// A spool with something of everything, as a kill leaves it: half in the file, half in the log.
    struct Sample {
        let folder: TemporaryFolder
        var payloads: Set<[UInt8]> = []
        /// Ten minutes of levels by their number.
        var levels: [Int64: StepLevels] = [:]

        init(closed: Bool) throws {
            folder = try TemporaryFolder()
            let live = try TemporaryFolder()
            var spool = try live.open()
            for half in 0..<2 {
                for index in 0..<40 {
                    let priority = Priority.allCases[index % 3]
                    let payload = Array("\(half) \(index) ".utf8) + [UInt8](repeating: UInt8(index), count: index * 150)
                    let isWaveform = index % 2 == 0
                    let event = priority == .essential ? "e\(half)" : nil
                    let key = try spool.put(
                        .of(priority, event: event, part: isWaveform ? .waveform : .update), payload)
                    if index % 7 == 0 { try spool.settle(key, .delivered) }
                    payloads.insert(payload)
                    let number = half * 40 + index
                    if number % 2 == 0 {
                        try spool.appendSegment(start: newYear + Int64(number) * 10 * second)
                    } else {
                        let (segment, records) = try LevelsTests.piece(from: number * 1000, count: 1000)
                        try spool.appendSegment(segment, records)
                    }
                    try spool.storeVibration(VibrationStoreTests.record(number))
                    try spool.setFact("f\(index)", payload)
                    try spool.commit()
                }
                if half == 0 { try spool.database.checkpoint() }
            }
            try spool.storeLevels()
            for number in SpoolDamageTests.blocks { levels[number] = try spool.levels(number) }
            #expect(levels.values.allSatisfy { $0.cells.contains { $0.samples > 0 } })
            // As it is now, before it is closed, or afterwards.
            if !closed { try FileManager.default.copyItem(atPath: live.path("s"), toPath: folder.path("s")) }
            try spool.close()
            if closed { try FileManager.default.copyItem(atPath: live.path("s"), toPath: folder.path("s")) }
        }
    }

    static func apply(_ damage: Damage, to file: String, _ random: inout SeededGenerator) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        let count = bytes.count
        func page(_ random: inout SeededGenerator) -> Int {
            Int.random(in: 0..<max(1, count / 4096), using: &random) * 4096
        }
        switch damage {
        case .truncate:
            let length = Int.random(in: 0..<count, using: &random)
            bytes.removeLast(count - (Bool.random(using: &random) ? length : length / 512 * 512))
        case .flip: bytes[Int.random(in: 0..<count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        case .flipMany:
            let base = page(&random)
            for _ in 0..<32 {
                let place = min(count - 1, base + Int.random(in: 0..<4096, using: &random))
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
        case .zeroPage, .garbagePage:
            let base = page(&random)
            for place in base..<min(count, base + 4096) {
                bytes[place] = damage == .zeroPage ? 0 : UInt8.random(in: 0...255, using: &random)
            }
        case .swapPages:
            let (a, b) = (page(&random), page(&random))
            for offset in 0..<4096 where max(a, b) + offset < count { bytes.swapAt(a + offset, b + offset) }
        case .garbage: bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        case .empty: bytes = []
        case .grow: bytes += (0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }

    /// Nothing is missing; some rows are; SQLite found damage when it read; it was set aside when it was opened.
    enum Outcome: String, CaseIterable { case whole, partly, foundLater, setAside }

    /// Does everything with a spool whose files are damaged.
    static func exercise(_ folder: TemporaryFolder, boot: String, _ sample: Sample) throws -> Outcome {
        let payloads = sample.payloads
        var spool = try folder.open(boot: boot)
        var outcome = spool.setAside == nil ? Outcome.whole : .setAside
        var found = 0
        for attempt in 0..<2 {
            do {
                let messages = try spool.next(.essential) + spool.next(.rest)
                for message in messages where message.header.topic == "seismote/a/t" {
                    found += 1
                    if !payloads.contains(message.payload) { Issue.record("a message that nobody has put") }
                }
                for event in try spool.unfinishedEvents() { try spool.forEachWaveform(of: event.id) { _ in } }
                _ = try spool.lastEnd()
                for segment in spool.segments(from: .min, to: .max) {
                    guard let records = try spool.records(of: segment) else { continue }
                    let number = Int((segment.start - newYear) / (10 * second))
                    let isAsAdded =
                        segment.unit == nil
                        ? Set(records).count == 1
                        : try LevelsTests.piece(from: number * 1000, count: 1000).1 == records
                    if !isAsAdded { Issue.record("records that nobody has added") }
                }
                for (number, truth) in sample.levels {
                    if let levels = try spool.levels(number), !isPart(levels, of: truth) {
                        Issue.record("levels that nobody has measured")
                    }
                }
                for record in try spool.vibrationBlocks(Self.blocks.lowerBound...Self.blocks.upperBound + 8).flatMap(
                    \.records)
                where record != VibrationStoreTests.record(Int((record.start - newYear) / (60 * second))) {
                    Issue.record("vibration that nobody has measured")
                }
                for name in try spool.facts(beginningWith: "") { _ = try spool.fact(name) }
                for message in messages { try spool.settle(message.key, .delivered) }
                try spool.appendSegment(start: newYear + day)
                try spool.trim(now: newYear + 40 * day)
                try spool.commit()
                try spool.checkpoint()
                break
            } catch let error as SpoolError {
                guard error.isDamage, attempt == 0 else { throw error }
                try spool.recover()
                outcome = .foundLater
            }
        }
        let header = PublicationHeader.of(.essential, "new")
        let key = try spool.put(header, "works")
        try spool.makeDurable()
        let last = try spool.next(.essential).last
        if last?.key != key || last?.header != header { Issue.record("what was put is not there") }
        if outcome == .whole, found < 68 { outcome = .partly }
        return outcome
    }

    /// Numbers of the two times ten minutes that a sample lasts.
    static let blocks = StepLevels.block(at: newYear)...StepLevels.block(at: newYear + 799 * second)

    /// Where pieces of the ring are missing, levels are of fewer samples. (A row has 32-bit floats.)
    private static func isPart(_ levels: StepLevels, of truth: StepLevels) -> Bool {
        let near = 1e-5
        return levels.count == truth.count
            && zip(levels.cells, truth.cells).allSatisfy { levels, truth in
                if levels.samples == 0 { return true }
                if levels.samples == truth.samples {
                    return abs(levels.least - truth.least) < near && abs(levels.most - truth.most) < near
                        && abs(levels.rms - truth.rms) < near
                }
                return levels.samples < truth.samples && levels.least > truth.least - near
                    && levels.most < truth.most + near
            }
    }

    /// The number of mutilations, by the environment for long runs.
    static let rounds = ProcessInfo.processInfo.environment["SEISMOTE_TORN"].flatMap { Int($0) } ?? 81

    @Test func tornFilesAreOpenedOrSetAside() throws {
        let samples = [try Sample(closed: false), try Sample(closed: true)]
        var tally: [String: Int] = [:]
        let seed = ProcessInfo.processInfo.environment["SEISMOTE_TORN_SEED"].flatMap { UInt64($0) } ?? 1
        var random = SeededGenerator(seed: seed)
        for round in 0..<Self.rounds {
            let sample = samples[round % 3 == 2 ? 1 : 0]
            let damage = Damage.allCases[round / 3 % Damage.allCases.count]
            let tail = round % 3 == 1 ? "-wal" : ""
            let folder = try TemporaryFolder()
            try FileManager.default.copyItem(atPath: sample.folder.path("s"), toPath: folder.path("s"))
            try Self.apply(damage, to: folder.database + tail, &random)
            // A start of the machine in between makes it look.
            let boot = Bool.random(using: &random) ? "a" : "b"
            do {
                let outcome = try Self.exercise(folder, boot: boot, sample)
                tally["\(tail.isEmpty ? "file" : "log ") \(damage.rawValue) \(outcome.rawValue)", default: 0] += 1
            } catch {
                Issue.record("round \(round), \(damage.rawValue) of \"\(tail)\": \(error)")
            }
        }
        for (what, count) in tally.sorted(by: { $0.key < $1.key }) { print("torn: \(what) \(count)") }
        print("torn: rounds \(Self.rounds)")
    }

    /// Every length of the log's first pages: the rows before the tear are there.
    @Test func aLogThatIsCutShortKeepsItsBeginning() throws {
        let sample = try Sample(closed: false)
        let log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: sample.folder.database + "-wal")))
        var last = 0
        for length in Array(stride(from: 0, to: log.count, by: 4120 * 3 / 2)) + [log.count] {
            let folder = try TemporaryFolder()
            try FileManager.default.copyItem(atPath: sample.folder.path("s"), toPath: folder.path("s"))
            try Data(log.prefix(length)).write(to: URL(fileURLWithPath: folder.database + "-wal"))
            var spool = try folder.open(boot: "b")
            #expect(spool.setAside == nil)
            let count = try spool.next(.essential).count + spool.next(.rest).count
            #expect(count >= last && count >= 34)
            last = count
        }
        #expect(last == 68)
    }

    // MARK: Things that are no database

    @Test func foreignFilesAreSetAside() throws {
        let sqlite = "SQLite format 3\0" + String(repeating: "x", count: 5000)
        for text in ["", "hello", String(repeating: "garbage ", count: 2000), sqlite] {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(atPath: folder.path("s"), withIntermediateDirectories: true)
            try folder.write("s/spool.db", text)
            var spool = try folder.open()
            #expect((spool.setAside == nil) == text.isEmpty)
            try spool.put(.of(.essential), "m")
            try spool.close()
            #expect(folder.names.contains("spool.db.broken-1") == !text.isEmpty)
        }
    }

    /// A database of another program, of a later version of ours, and one whose tables are others.
    @Test func strangersAndLaterVersionsAreSetAside() throws {
        for line in [
            "PRAGMA application_id=1", "PRAGMA user_version=\(Schema.version + 1)", "DROP INDEX waiting",
            "CREATE TABLE x(y)",
        ] {
            let folder = try TemporaryFolder()
            var spool = try folder.open()
            try spool.put(.of(.essential), "m")
            try spool.commit()
            try spool.database.execute(line)
            try spool.close()
            var again = try folder.open()
            #expect(again.setAside != nil, "\(line)")
            try again.put(.of(.essential), "n")
            let texts = try again.texts(.essential)
            #expect(texts.last == "n")
        }
    }

    @Test(arguments: ["", "-wal", "-shm"]) func aFolderInTheWay(tail: String) throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.database + tail + "/inside", withIntermediateDirectories: true)
        var spool = try folder.open()
        #expect(spool.setAsideFile?.path == folder.database + ".broken-1")
        try spool.put(.of(.essential), "m")
        try spool.makeDurable()
        #expect(try spool.texts(.essential) == ["m"])
    }

    /// Reading a pipe would hang.
    @Test func aPipeInTheWay() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("s"), withIntermediateDirectories: true)
        #expect(mkfifo(folder.database, 0o600) == 0)
        var spool = try folder.open()
        #expect(spool.setAside != nil)
        try spool.put(.of(.essential), "m")
        try spool.commit()
    }

    @Test func onlyTwoDamagedFilesAreKept() throws {
        let folder = try TemporaryFolder()
        for round in 1...5 {
            var spool = try folder.open()
            #expect((spool.setAside == nil) == (round == 1))
            try spool.put(.of(.essential), "m")
            try spool.commit()
            try spool.recover()
            try spool.close()
            try folder.write("s/spool.db", "garbage \(round)")
            try folder.write("s/spool.db-wal", "garbage")
        }
        let broken = folder.names.filter { $0.contains("broken") && !$0.contains("-wal") && !$0.contains("-shm") }
        #expect(broken == ["spool.db.broken-8", "spool.db.broken-9"])
    }

    /// Recovering fails while there is no new file to be had; it is tried again, and the damaged file is moved aside once.
    @Test func recoveryIsTriedAgain() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        try spool.put(.of(.essential), "m")
        try spool.commit()
        // In the way of the new file's log.
        let inTheWay = folder.database + "-wal"
        spool.database.close()
        try FileManager.default.createDirectory(atPath: inTheWay + "/x", withIntermediateDirectories: true)
        try spool.recover()
        #expect(spool.setAsideFile?.path == folder.database + ".broken-1")
        spool.database.close()
        #expect(throws: SpoolError.self) { try spool.put(.of(.essential), "n") }
        #expect(throws: SpoolError.self) { try spool.makeDurable() }
        #expect(throws: SpoolError.self) { try spool.database.checkpoint() }
        try spool.commit()
        try FileManager.default.moveItem(atPath: folder.path("s"), toPath: folder.path("t"))
        for _ in 0..<5 { #expect(throws: SpoolError.self) { try spool.recover() } }
        try FileManager.default.moveItem(atPath: folder.path("t"), toPath: folder.path("s"))
        try spool.recover()
        #expect(folder.names.contains("spool.db.broken-1"))
        try spool.put(.of(.essential), "works")
        try spool.makeDurable()
        #expect(try spool.texts(.essential).last == "works")
    }

    // MARK: No room, no right

    @Test func aFolderThatCannotBeIsAnErrorWithItsName() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", "")
        for path in [file + "/s", folder.path("a/b"), "/proc/seismote", "/proc", file] {
            do throws(SpoolError) {
                _ = try Spool.open(SpoolOptions(directory: path), now: newYear)
                Issue.record("opened in \(path)")
            } catch {
                #expect(error.isSystem && !error.isDamage && error.file.hasPrefix(path))
            }
        }
        guard geteuid() != 0 else { return }
        try FileManager.default.createDirectory(
            atPath: folder.path("s"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o555])
        #expect(throws: SpoolError.self) { _ = try folder.open() }
    }

    /// A full disk, by a limit on the file: said, undone, and all is well when there is room again.
    @Test func aFullDiskIsSaidAndUndone() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        try spool.put(.of(.essential), "before")
        try spool.commit()
        try spool.database.limit(pages: 40)
        var error: SpoolError?
        for _ in 0..<100 where error == nil {
            do throws(SpoolError) {
                let large = UnsafeMutableRawBufferPointer.allocate(byteCount: 9000, alignment: 1)
                defer { large.deallocate() }
                large.initializeMemory(as: UInt8.self, repeating: 1)
                _ = try spool.put(.of(.trace), UnsafeRawBufferPointer(large), made: newYear)
            } catch let failure { error = failure }
        }
        #expect(error?.isFull == true && error?.isDamage == false)
        #expect(spool.statistics.messages.trace == 0)
        #expect(try spool.texts(.essential) == ["before"])
        try spool.database.limit(pages: 4000)
        try spool.put(.of(.trace), "after")
        try spool.commit()
        #expect(try spool.texts(.rest) == ["after"])
    }

    /// A real small disk, which the check script mounts.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["SEISMOTE_SMALL_DISK"] != nil))
    func aDiskThatIsReallyFull() throws {
        let disk = try #require(ProcessInfo.processInfo.environment["SEISMOTE_SMALL_DISK"])
        let options = SpoolOptions(directory: disk + "/s")
        var kept: [Int64] = []
        var failures = 0
        for round in 0..<4 {
            var spool = try Spool.open(options, now: newYear)
            #expect(spool.setAside == nil)
            #expect(try spool.next(.rest).map(\.key) == kept)
            for index in 0..<400 {
                do throws(SpoolError) {
                    let large = UnsafeMutableRawBufferPointer.allocate(byteCount: 9000, alignment: 1)
                    defer { large.deallocate() }
                    large.initializeMemory(as: UInt8.self, repeating: UInt8(index % 256))
                    let key = try spool.put(.of(.trace), UnsafeRawBufferPointer(large), made: newYear)
                    try spool.commit()
                    if key > 0 { kept.append(key) }
                    if index % 20 == 0 { try spool.makeDurable() }
                    if index % 50 == 0 { try spool.checkpoint() }
                } catch {
                    failures += 1
                    if !error.isFull { Issue.record("round \(round): \(error)") }
                }
            }
            // Room again: what is sent makes room for what comes.
            do throws(SpoolError) {
                for key in kept.prefix(kept.count / 2) { try spool.settle(key, .delivered) }
                try spool.commit()
                kept.removeFirst(kept.count / 2)
            } catch { failures += 1 }
            #expect(try spool.next(.rest).map(\.key) == kept)
        }
        #expect(failures > 0)
        print("small disk: \(failures) writes refused, \(kept.count) messages kept")
    }
}
