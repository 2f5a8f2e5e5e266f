import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

/// Damage inside SQLite's log, as it is found at the start after a kill.
@Suite struct LogDamageTests {
    static let count = 57

    /// A station without a broker, killed after as many event messages: all of them stand in the log.
    static func killed(boot: String = "a") throws -> TemporaryFolder {
        let live = try TemporaryFolder()
        var spool = try live.open(boot: boot)
        for index in 0..<Self.count {
            try spool.put(.of(.essential, event: "e\(index / 5)", part: .update), text(index))
            try spool.commit()
        }
        return try live.killed()
    }

    static func text(_ index: Int) -> String { "\(index) " + String(repeating: "x", count: index * 37 % 900) }

    static func log(_ folder: TemporaryFolder) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.database + "-wal")))
    }

    static func write(_ log: [UInt8], _ folder: TemporaryFolder) throws {
        try Data(log).write(to: URL(fileURLWithPath: folder.database + "-wal"))
    }

    /// SQLite ended the log at the flipped bit, and everything behind it was lost in silence.
    @Test(arguments: ["a", "b"]) func aFlippedBitInTheLogLosesNothing(boot: String) throws {
        let whole = try Self.killed()
        let log = try Self.log(whole)
        let frames = (log.count - 32) / 4120
        #expect(frames >= Self.count)
        var places = [0, 9, 14, 17, 22, 25, 31]
        for frame in [0, 1, 2, 3, frames / 2, frames - 2, frames - 1] {
            for offset in [0, 4, 5, 9, 14, 17, 20, 24, 29, 2000, 4100, 4113] {
                places.append(32 + frame * 4120 + offset)
            }
        }
        for (number, place) in places.enumerated() {
            let folder = try whole.killed()
            var damaged = log
            damaged[place] ^= 1 << (number % 8)
            try Self.write(damaged, folder)
            var spool = try folder.open(boot: boot)
            let texts = try spool.texts(.essential)
            #expect(texts == (0..<Self.count).map(Self.text), "byte \(place)")
            #expect(spool.setAsideFile?.kind == .log, "byte \(place)")
            #expect(spool.statistics.damagedPages == 1, "byte \(place)")
            #expect(Self.aside(folder) == ["spool.db.broken-1-wal"], "byte \(place)")
            let kept = try Data(contentsOf: URL(fileURLWithPath: folder.path("s/spool.db.broken-1-wal")))
            #expect([UInt8](kept) == damaged)
            // Once: the log that is in force is whole.
            try spool.close()
            var again = try folder.open(boot: boot)
            #expect(again.setAside == nil && again.statistics.damagedPages == 1)
        }
    }

    /// The highest bits of a word count alike in SQLite's sum in many places: the page is known to be wrong, and not where.
    @Test(arguments: ["a", "b"]) func aBitThatCannotBeFoundCostsItsPageAtMost(boot: String) throws {
        let whole = try Self.killed()
        let log = try Self.log(whole)
        let frames = (log.count - 32) / 4120
        var lost = 0
        for (number, frame) in stride(from: 0, to: frames, by: 5).enumerated() {
            let folder = try whole.killed()
            var damaged = log
            damaged[32 + frame * 4120 + [3, 7, 23, 27, 31, 1003, 3999, 4119][number % 8]] ^= 0x80
            try Self.write(damaged, folder)
            var spool = try folder.open(boot: boot)
            #expect(spool.setAside?.contains("the log was damaged") == true, "frame \(frame)")
            let texts = try spool.texts(.essential)
            lost += Self.count - texts.count
            #expect(texts.count >= Self.count - 14, "frame \(frame)")
            #expect(Set(texts).isSubset(of: (0..<Self.count).map(Self.text)))
        }
        #expect(lost < frames / 5)
    }

    /// A block of a card: what stands behind it is there.
    @Test func aBadBlockInTheLogCostsItsPagesAtMost() throws {
        let whole = try Self.killed()
        let log = try Self.log(whole)
        // (Of the last transaction nothing behind it shows that it was whole.)
        for place in stride(from: 512, to: log.count - 4 * 4120, by: 21 * 512) {
            let folder = try whole.killed()
            var damaged = log
            for index in place..<place + 512 { damaged[index] ^= UInt8(index % 255) }
            try Self.write(damaged, folder)
            var spool = try folder.open()
            #expect(spool.setAside?.contains("the log was damaged") == true, "byte \(place)")
            let texts = try spool.texts(.essential)
            // It may be part of two pages.
            #expect(texts.count >= Self.count - 16, "byte \(place)")
            #expect(Set(texts).isSubset(of: (0..<Self.count).map(Self.text)))
            try spool.put(.of(.essential), "new")
            try spool.commit()
        }
    }

    // MARK: What a kill or a power cut leaves behind

    /// Cut off anywhere, the last transaction in part, older frames behind it: no alarm, and what SQLite finds is there.
    @Test(arguments: ["a", "b"]) func aTornTailIsNoDamage(boot: String) throws {
        let live = try TemporaryFolder()
        var spool = try live.open()
        for index in 0..<12 {
            try spool.put(.of(.essential), Self.text(index))
            try spool.commit()
        }
        let before = try Self.log(live)
        try spool.checkpoint(whole: true)
        for index in 12..<16 {
            try spool.put(.of(.essential), Self.text(index))
            try spool.commit()
        }
        let whole = try live.killed()
        // It may have begun again over what stood there.
        var log = try Self.log(whole)
        #expect(log.count < before.count)
        log += before[log.count...]
        try Self.write(log, whole)
        for length in [0, 31, 32, 100, 4152, 4152 + 1, 4152 * 2, log.count - 1] {
            let folder = try whole.killed()
            try Self.write(Array(log.prefix(length)), folder)
            let again = try folder.open(boot: boot)
            #expect(again.setAside == nil && Self.aside(folder).isEmpty, "cut to \(length)")
        }
        let folder = try whole.killed()
        var again = try folder.open(boot: boot)
        #expect(again.setAside == nil && Self.aside(folder).isEmpty)
        #expect(try again.texts(.essential).count == 16)
    }

    /// After a power cut the transactions of the last seconds may stand there in any part. SQLite ends the log before them;
    /// what it leaves behind its end must not look like damage at the next start, still less be taken for true.
    @Test func whatAPowerCutHasTornDoesNotComeBack() throws {
        let whole = try Self.killed()
        var log = try Self.log(whole)
        let frames = (log.count - 32) / 4120
        // A page whose second half was not written, ten transactions before the end.
        let torn = frames - 20
        for index in 2000..<4000 { log[32 + torn * 4120 + index] = 0xA5 }
        let folder = try whole.killed()
        try Self.write(log, folder)
        var spool = try folder.open(boot: "b")
        #expect(spool.setAside == nil && Self.aside(folder).isEmpty)
        let found = try spool.next(.essential)
        #expect(found.count > Self.count / 2 && found.count < Self.count)
        for index in 0..<3 {
            try spool.put(.of(.essential), "new \(index)")
            try spool.commit()
        }
        let killed = try folder.killed()
        var again = try killed.open(boot: "b")
        #expect(again.setAside == nil)
        #expect(try again.texts(.essential).count == found.count + 3)
    }

    /// The same damage in the middle of a long log is no power cut.
    @Test func damageFarFromTheEndIsSaidAfterAPowerCutToo() throws {
        let folder = try Self.killed()
        var log = try Self.log(folder)
        for index in 2000..<4000 { log[32 + 10 * 4120 + index] = 0xA5 }
        try Self.write(log, folder)
        var spool = try folder.open(boot: "b")
        #expect(spool.setAside?.contains("the log was damaged") == true)
        #expect(try spool.texts(.essential).count >= Self.count - 2)
    }

    // MARK: The rest

    @Test func onlyTwoCopiesAreKept() throws {
        let whole = try Self.killed()
        var log = try Self.log(whole)
        log[32 + 3 * 4120 + 1000] ^= 1
        let folder = try whole.killed()
        for _ in 0..<5 {
            try Self.write(log, folder)
            let spool = try folder.open()
            #expect(spool.setAsideFile?.kind == .log)
        }
        #expect(Self.aside(folder) == ["spool.db.broken-4-wal", "spool.db.broken-5-wal"])
    }

    /// Was deleted by SQLite without a word.
    @Test func aLogWithoutItsDatabaseIsSetAside() throws {
        for isEmpty in [true, false] {
            let folder = try Self.killed()
            if isEmpty { try folder.write("s/spool.db", "") } else { unlink(folder.database) }
            var spool = try folder.open()
            #expect(spool.setAside != nil)
            #expect(try spool.texts(.essential).count == Self.count)
            #expect(folder.names.contains("spool.db.broken-1-wal"))
            try spool.put(.of(.essential), "works")
            try spool.makeDurable()
        }
    }

    /// Files without end, and a log that is none: opened at once, and what is kept aside stays as it was found.
    @Test(arguments: ["", "-wal"]) func aHugeFileInTheWay(tail: String) throws {
        let folder = try TemporaryFolder()
        var first = try folder.open()
        try first.put(.of(.essential), "m")
        try first.close()
        unlink(folder.database + tail)
        try folder.write("s/spool.db" + tail, "")
        #expect(truncate(folder.database + tail, 1 << 40) == 0)
        var spool = try folder.open()
        #expect(spool.setAside != nil)
        try spool.put(.of(.essential), "works")
        try spool.makeDurable()
        #expect(try spool.texts(.essential) == (tail.isEmpty ? ["works"] : ["m", "works"]))
        let kept = try Data(
            contentsOf: URL(fileURLWithPath: folder.path("s/spool.db.broken-1\(tail)")), options: .alwaysMapped)
        #expect(kept.count == 1 << 40 && kept.prefix(100_000).allSatisfy { $0 == 0 })
    }

    /// In quiet moments nothing stands in the log.
    @Test func theLogIsFoldedIntoTheFile() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        try spool.put(.of(.essential), "m")
        try spool.checkpoint()
        #expect(try Self.log(folder).count > 4000)
        try spool.checkpoint(whole: true)
        #expect(try Self.log(folder).isEmpty)
        #expect(spool.statistics.logBytes == 0)
        let killed = try folder.killed()
        var again = try killed.open()
        #expect(try again.texts(.essential) == ["m"])
    }

    /// What is memory-mapped and cut short by somebody is a signal that ends the process.
    @Test func nothingIsMappedIntoMemory() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        try spool.put(.of(.essential), "m")
        try spool.commit()
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        #expect(!maps.contains(folder.path("s")))
        #expect(folder.names == ["spool.db", "spool.db-wal", "spool.lock"])
    }

    static func aside(_ folder: TemporaryFolder) -> [String] { folder.names.filter { $0.contains(".broken-") } }
}
