import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

/// Files that are deleted, replaced or cut short while they are open. SQLite goes on with what it has open, for ever and
/// without an error: everything that was kept from then on was lost with the process.
@Suite struct TakenAwayTests {
    enum Way: String, CaseIterable {
        case folderDeleted, folderReplaced, folderOfAnother, fileDeleted, fileOfAnother, fileOfAStranger, filePipe,
            fileFolder,
            fileLink, fileCut, fileHalved, fileOverwritten, filesDeleted, logDeleted, logReplaced, logFolder, logCut

        /// What waits in the file alone is lost.
        var losesFile: Bool { self == .fileCut || self == .fileHalved || self == .fileOverwritten }
        var losesLog: Bool { self == .logCut }
    }

    /// A spool of somebody else with two messages.
    static func other() throws -> TemporaryFolder {
        let other = try TemporaryFolder()
        var spool = try other.open()
        try spool.put(.of(.essential), "other 1")
        try spool.put(.of(.essential), "other 2")
        try spool.close()
        return other
    }

    static func apply(_ way: Way, _ folder: TemporaryFolder) throws {
        let files = FileManager.default
        let other = try Self.other()
        defer { withExtendedLifetime(other) {} }
        let (file, log) = (folder.database, folder.database + "-wal")
        func cut(_ path: String, _ length: Int) { #expect(truncate(path, length) == 0) }
        switch way {
        case .folderDeleted: try files.removeItem(atPath: folder.path("s"))
        case .folderReplaced:
            try files.moveItem(atPath: folder.path("s"), toPath: folder.path("old"))
            try files.createDirectory(atPath: folder.path("s"), withIntermediateDirectories: false)
        case .folderOfAnother:
            try files.removeItem(atPath: folder.path("s"))
            try files.copyItem(atPath: other.path("s"), toPath: folder.path("s"))
        case .fileDeleted: try files.removeItem(atPath: file)
        case .fileOfAnother:
            try files.copyItem(atPath: other.database, toPath: folder.path("new"))
            #expect(rename(folder.path("new"), file) == 0)
        case .fileOfAStranger:
            try files.removeItem(atPath: file)
            try folder.write("s/spool.db", String(repeating: "no database ", count: 100_000))
        case .filePipe:
            try files.removeItem(atPath: file)
            #expect(mkfifo(file, 0o600) == 0)
        case .fileFolder:
            try files.removeItem(atPath: file)
            try files.createDirectory(atPath: file + "/x", withIntermediateDirectories: true)
        case .fileLink:
            try files.moveItem(atPath: file, toPath: folder.path("elsewhere"))
            try files.createSymbolicLink(atPath: file, withDestinationPath: "/dev/zero")
        case .fileCut: cut(file, 0)
        case .fileHalved: cut(file, 8192)
        case .fileOverwritten:
            let handle = try #require(FileHandle(forWritingAtPath: file))
            try handle.write(contentsOf: Data(contentsOf: URL(fileURLWithPath: other.database)))
            try handle.close()
        case .filesDeleted:
            try files.removeItem(atPath: file)
            try files.removeItem(atPath: log)
        case .logDeleted: try files.removeItem(atPath: log)
        case .logReplaced:
            try files.removeItem(atPath: log)
            try folder.write("s/spool.db-wal", String(repeating: "no log ", count: 10_000))
        case .logFolder:
            try files.removeItem(atPath: log)
            try files.createDirectory(atPath: log + "/x", withIntermediateDirectories: true)
        case .logCut: cut(log, 0)
        }
    }

    @Test(arguments: Way.allCases) func itIsNoticedAndBegunAnew(way: Way) throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        var keys: [Int64] = []
        for index in 0..<20 {
            keys.append(
                try spool.put(.of(.essential, event: "e", part: .update), Array(repeating: UInt8(index), count: 900)))
        }
        for index in 0..<60 { try spool.appendSegment(start: newYear + Int64(index) * 10 * second) }
        try spool.checkpoint(whole: true)
        keys.append(try spool.put(.of(.essential), "in the log"))
        try spool.setFact("f", [1])
        try spool.commit()
        let inMemory = Set(keys.suffix(1) + keys.prefix(1))
        try Self.apply(way, folder)

        // At the next commit, or with the look of every minute.
        #expect(throws: SpoolError.self) { try spool.checkpoint() }
        try spool.put(.of(.essential), "undone")
        var error: SpoolError?
        do throws(SpoolError) { try spool.commit() } catch let failure { error = failure }
        #expect(error?.isGone == true && error?.isDamage == false, "\(error?.description ?? "")")
        try spool.recover(except: inMemory)
        #expect(spool.setAsideFile?.kind == .gone)
        let number = try spool.put(.of(.essential), "from memory")
        #expect(number > keys.last ?? .max)
        try spool.makeDurable()
        try spool.checkpoint(whole: true)

        // What was there and is not in memory has been taken over, under its number; nothing is there twice.
        let found = try spool.next(.essential)
        let expected = way.losesFile ? [] : keys.filter { !inMemory.contains($0) }
        let foreign = found.filter { String(decoding: $0.payload, as: UTF8.self).hasPrefix("other") }.count
        // (What overwrites a file is taken for what it holds now, but for numbers that are in memory.)
        #expect(foreign == (way == .folderOfAnother ? 2 : way == .fileOverwritten ? 1 : 0))
        // (Numbers that the other one uses are not given twice.)
        let own = found.filter { $0.payload.count == 900 }
        if !way.losesFile { #expect(own.map { $0.payload[0] }.sorted() == (1..<20).map { UInt8($0) }) }
        if foreign == 0 { #expect(found.map(\.key) == (way.losesFile ? own.map(\.key) : expected) + [number]) }
        #expect(Set(found.map(\.key)).count == found.count)
        #expect(way.losesFile || spool.setAsideFile?.salvaged == (way.rawValue.hasPrefix("log") ? 0 : expected.count))
        // The database itself was still there.
        if way.rawValue.hasPrefix("log"), way != .logFolder {
            #expect(spool.statistics.ringSegments == 60)
            #expect(try spool.fact("f") == (way.losesLog ? nil : [1]))
        }
        let statistics = spool.statistics
        #expect(statistics.messages.essential == found.count)
        #expect(
            folder.names.filter { $0.hasPrefix("spool.db.broken") && !$0.contains("-") || $0 == "spool.lock" }.count
                <= 3)
        try spool.close()
        var again = try folder.open()
        #expect(again.setAside == nil)
        #expect(try again.next(.essential).map(\.key) == found.map(\.key))
    }

    /// The numbers of what is taken over are those of another's messages: nothing is overwritten, and nobody is let out.
    @Test func anotherSpoolInItsPlaceIsTakenUpAsItIs() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        for index in 0..<5 { try spool.put(.of(.essential), "own \(index)") }
        try spool.commit()
        try Self.apply(.folderOfAnother, folder)
        try spool.recover()
        #expect(Set(try spool.texts(.essential)) == Set(["other 1", "other 2"] + (0..<5).map { "own \($0)" }))
        try spool.commit()
        // Another process is kept out of the new folder, too.
        #expect(throws: SpoolError.self) { _ = try folder.open() }
    }

    /// Levels, waveforms and facts of one station are not those of another: into its database go only messages, which have
    /// their station in the topic.
    @Test func anothersSpoolGetsNoLevelsAndNoWaveforms() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        for index in 0..<3 { try spool.put(.of(.essential), "own \(index)") }
        for index in 0..<5 {
            let (segment, bytes) = try LevelsTests.piece(from: index * 60_000, count: 1000)
            try spool.appendSegment(segment, bytes)
        }
        try spool.storeLevels()
        try spool.commit()
        func levels(_ spool: inout Spool) throws -> Int {
            var found = 0
            for number in SpoolDamageTests.blocks where try spool.levels(number) != nil { found += 1 }
            return found
        }
        #expect(try levels(&spool) > 0)
        try Self.apply(.folderOfAnother, folder)
        try spool.recover()
        #expect(Set(try spool.texts(.essential)) == Set(["other 1", "other 2"] + (0..<3).map { "own \($0)" }))
        #expect(try levels(&spool) == 0)
        #expect(spool.segments(from: .min, to: .max).isEmpty)
    }

    /// While there is nothing to begin anew with, it is tried again; a folder that comes back is the old one.
    @Test func aFolderThatComesBackIsGoneOnWith() throws {
        let folder = try TemporaryFolder()
        let options = SpoolOptions(directory: folder.path("mount/s"))
        try FileManager.default.createDirectory(atPath: folder.path("mount"), withIntermediateDirectories: false)
        var spool = try Spool.open(options, now: newYear, boot: "a")
        let key = try spool.put(.of(.essential), "m")
        let other = try spool.put(.of(.essential), "in memory")
        try spool.commit()
        #expect(rename(folder.path("mount"), folder.path("away")) == 0)
        for _ in 0..<3 {
            #expect(throws: SpoolError.self) { try spool.recover(except: [other]) }
            let isWithout = spool.isWithoutFile
            #expect(isWithout)
        }
        #expect(rename(folder.path("away"), folder.path("mount")) == 0)
        try spool.recover(except: [other])
        let isWithout = spool.isWithoutFile
        #expect(!isWithout)
        try spool.put(.of(.essential), "from memory")
        try spool.commit()
        #expect(try spool.texts(.essential) == ["m", "from memory"])
        #expect(try spool.next(.essential).first?.key == key)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("mount/s")).sorted()
        #expect(names == ["spool.db", "spool.db-wal", "spool.lock"])
    }

    /// Out of reach is not away: nothing is begun anew, and all is well when it can be reached again.
    @Test(.enabled(if: geteuid() != 0)) func whatMayNotBeLookedAtIsNotGone() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        try spool.put(.of(.essential), "m")
        chmod(folder.path("s"), 0)
        var error: SpoolError?
        do throws(SpoolError) { try spool.commit() } catch let failure { error = failure }
        chmod(folder.path("s"), 0o750)
        #expect(error?.isGone == false)
    }

    /// A file that cannot be read any more was an error for ever, each half minute anew.
    @Test func readErrorsCountAsDamage() {
        for (code, isDamage) in [
            (10 | 1 << 8, true), (10 | 2 << 8, true), (11, true), (26, true), (10 | 3 << 8, false), (13, false),
        ] {
            #expect(SpoolError(file: "f", code: Int32(code), text: "").isDamage == isDamage)
        }
    }

    /// In use, a page of the database itself: the rest is taken over, with what is only in memory.
    @Test func aDamagedPageWhileInUse() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        var keys: [Int64] = []
        for index in 0..<200 {
            keys.append(try spool.put(.of(.essential), Array("\(index) ".utf8) + [UInt8](repeating: 1, count: 1500)))
        }
        try spool.checkpoint(whole: true)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.database))
        let place = try #require(bytes.range(of: Data("100 \u{1}\u{1}".utf8))).lowerBound / 4096 * 4096
        let handle = try #require(FileHandle(forUpdatingAtPath: folder.database))
        try handle.seek(toOffset: UInt64(place))
        try handle.write(contentsOf: Data(repeating: 0x5A, count: 4096))
        try handle.close()
        var error: SpoolError?
        do throws(SpoolError) { _ = try spool.next(.essential) } catch let failure { error = failure }
        #expect(error?.isDamage == true)
        try spool.recover(except: Set(keys.prefix(10)))
        #expect(spool.setAsideFile?.kind == .database && spool.setAsideFile?.path == folder.database + ".broken-1")
        let found = try spool.next(.essential).map(\.key)
        #expect(found.count > 170 && Set(found).isSubset(of: keys.suffix(190)))
    }
}
