import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

/// What can still be read of a damaged file is in the new one.
@Suite struct SalvageTests {
    /// Damage elsewhere costs nothing essential: messages keep their numbers and states, facts and counters are there.
    @Test(arguments: [true, false]) func essentialMessagesAreTakenOver(whileInUse: Bool) throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        var keys: [Int64] = []
        for index in 0..<60 {
            let part = EventMark.Part.allParts[index % 4]
            let header = PublicationHeader.of(.essential, event: index % 5 == 0 ? nil : "e\(index / 10)", part: part)
            keys.append(try spool.put(header, Array("\(index) ".utf8) + [UInt8](repeating: 1, count: index * 200)))
        }
        // Six of these belong to no event, and are gone then.
        for key in keys.prefix(30) { try spool.settle(key, .delivered) }
        try spool.setFact("revision", [1, 2, 3])
        for index in 0..<200 { try spool.put(.of(.trace), [UInt8](repeating: UInt8(index), count: 2000)) }
        try spool.database.set(.dropped, numbers: [1, 2, 3])
        try spool.commit()
        try spool.close()
        var damaged = try folder.open()
        let before = damaged.statistics
        let waiting = try damaged.next(.essential)
        let highest = try damaged.next(.rest).last?.key ?? 0
        let root = try damaged.database.number("SELECT rootpage FROM sqlite_schema WHERE name = 'trace'") ?? 0
        try damaged.close()
        // The top of the table of traces.
        let file = URL(fileURLWithPath: folder.database)
        var bytes = try Data(contentsOf: file)
        for place in 0..<4096 { bytes[(Int(root) - 1) * 4096 + place] = 0x5A }
        try bytes.write(to: file)

        if whileInUse {
            // The sums notice it here; so the file is exchanged under a spool that is open.
            try FileManager.default.moveItem(atPath: folder.database, toPath: folder.path("damaged"))
            damaged = try folder.open()
            damaged.database.close()
            for name in ["spool.db", "spool.db-wal", "spool.db-shm"] {
                try? FileManager.default.removeItem(atPath: folder.path("s/\(name)"))
            }
            try FileManager.default.moveItem(atPath: folder.path("damaged"), toPath: folder.database)
            try damaged.recover()
        } else {
            damaged = try folder.open()
        }
        #expect(damaged.setAsideFile?.path == folder.database + ".broken-1")
        #expect(damaged.setAsideFile?.salvaged == 54)
        #expect(try damaged.next(.essential) == waiting)
        #expect(damaged.statistics.messages.essential == before.messages.essential)
        #expect(damaged.statistics.keptMessages == before.keptMessages && before.keptMessages == 24)
        #expect(damaged.statistics.dropped == before.dropped && before.dropped.trace == 3)
        #expect(try damaged.fact("revision") == [1, 2, 3])
        // Its pages are whole.
        #expect(try damaged.next(.rest).count == 200)
        let next = try damaged.put(.of(.trace), "new")
        #expect(next > waiting.last?.key ?? .max)
        // (The highest number of a table that cannot be read is not known.)
        #expect(highest > 0)
        try damaged.close()
        var again = try folder.open()
        #expect(again.setAside == nil)
        #expect(try again.next(.essential) == waiting)
    }

    /// A page of the essential table itself: the rows of the others are there.
    @Test func onlyTheRowsOfTheDamagedPageAreLost() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        for index in 0..<100 {
            try spool.put(.of(.essential), Array("\(index) ".utf8) + [UInt8](repeating: 1, count: 1500))
        }
        try spool.close()
        let file = URL(fileURLWithPath: folder.database)
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("50 \u{1}\u{1}".utf8)))
        let page = place.lowerBound / 4096 * 4096
        for place in page..<page + 4096 { bytes[place] = 0 }
        try bytes.write(to: file)
        var again = try folder.open()
        #expect(again.setAside != nil)
        let found = try again.next(.essential)
        #expect(found.count >= 90 && found.count < 100)
        #expect(again.setAsideFile?.salvaged == found.count)
        #expect(found.map(\.key) == found.map(\.key).sorted())
    }
}

extension EventMark.Part {
    static let allParts: [Self] = [.onset, .update, .waveform, .end]
}

/// What is found to be damaged while all else is whole.
@Suite struct RepairTests {
    private func database() throws -> (TemporaryFolder, [Int64]) {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        var keys: [Int64] = []
        for index in 0..<84 {
            let payload = [UInt8](repeating: UInt8(index), count: 900)
            keys.append(try spool.put(.of(.essential, event: "e", part: .update), payload))
        }
        for index in 0..<20 { try spool.appendSegment(start: newYear + Int64(index) * 10 * second) }
        for key in keys.prefix(4) { try spool.settle(key, .delivered) }
        try spool.commit()
        try spool.close()
        return (folder, keys)
    }

    private func root(_ name: String, _ folder: TemporaryFolder) throws -> Int {
        let database = Database(folder.database)
        try database.connect()
        defer { database.close() }
        return Int(try #require(try database.number("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'"))) - 1
    }

    private func change(_ folder: TemporaryFolder, _ body: (inout [UInt8]) -> Void) throws {
        let file = URL(fileURLWithPath: folder.database)
        var bytes = [UInt8](try Data(contentsOf: file))
        body(&bytes)
        try Data(bytes).write(to: file)
    }

    /// An entry of the index that says another number hid a message for ever.
    @Test(arguments: ["waiting", "events"]) func anIndexThatDoesNotAgreeIsMadeAgain(name: String) throws {
        let (folder, keys) = try database()
        let page = try root(name, folder) * 4096
        // The last byte of an entry is that of its number.
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.database)))
        let entry = try #require(Page(Array(bytes[page..<page + 4096])).cells()?.last)
        try change(folder) { $0[page + entry.offset + entry.count - 1] ^= 8 }
        var spool = try folder.open()
        #expect(try spool.next(.essential).map(\.key) == Array(keys.dropFirst(4)))
        let statistics = spool.statistics
        #expect(statistics.rebuiltIndices + (spool.setAsideFile?.kind == .database ? 1 : 0) == 1)
        #expect(statistics.damaged == 0 && statistics.unknownLosses == 0 && statistics.ringSegments == 20)
    }

    /// A page of which nothing is left: no number is said, and nothing else is lost by it.
    @Test func whatNobodyKnowsIsSaidToBeUnknown() throws {
        let (folder, keys) = try database()
        let page = try root("essential", folder) * 4096
        try change(folder) { for place in page..<page + 4096 { $0[place] = 0 } }
        var spool = try folder.open()
        #expect(try spool.next(.essential).map(\.key) == Array(keys.dropFirst(4)))
        #expect(spool.setAsideFile?.lost == nil && spool.statistics.unknownLosses == 1)
        #expect(spool.setAside?.contains("lost messages: unknown") == true)
        #expect(spool.statistics.ringSegments == 20 && spool.statistics.keptMessages == 4)
    }

    /// Checksums of version 2 did not tell what became of a message.
    @Test func aFileOfTheSecondVersionIsUpgraded() throws {
        let (folder, keys) = try database()
        let old = Database(folder.database)
        try old.connect()
        let mark = StoredMessage.mark(state: 1)
        try old.execute("UPDATE essential SET sum = (sum | \(mark)) - (sum & \(mark)) WHERE state = 1")
        try old.execute("DROP TABLE vibration; PRAGMA user_version = 2")
        old.close()
        var spool = try folder.open()
        #expect(spool.setAside == nil && spool.statistics.keptMessages == 4)
        #expect(try spool.messages(of: "e", .onset ... .end).map(\.key) == keys)
        try spool.check()
        #expect(spool.takeFinding() == nil)
    }
}
