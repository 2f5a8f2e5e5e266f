import Foundation
import TestSupport
import Testing

@testable import Agent
@testable import Commands

@Suite struct CommandJournalTests {
    static func entry(_ id: String, _ reply: String?, isFinal: Bool = true) -> CommandMemory.Entry {
        .init(id: id, digest: "d", reply: reply.map { Array($0.utf8) }, isFinal: isFinal)
    }

    @Test func whatWasWrittenIsReadAgain() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("state")
        var journal = CommandJournal(directory: directory)
        var memory = journal.read()
        #expect(memory.entries == [])
        for number in 0..<1500 {
            let entry = Self.entry("n\(number % 100)", "{\"number\":\(number)}")
            memory.set(entry)
            journal.append(entry, isDurable: false, memory)
        }
        #expect(journal.problem == nil)
        var second = CommandJournal(directory: directory)
        #expect(second.read().entries.map(\.id) == memory.entries.map(\.id))
        #expect(second.read() == memory)
        // It does not grow without end.
        let size = try #require(
            try FileManager.default.attributesOfItem(
                atPath: "\(directory)/\(CommandJournal.fileName)")[.size] as? Int)
        #expect(size < 64 * 100)
    }

    /// Cut anywhere, as a power cut may leave it: every line before the cut counts, and new ones do after it.
    @Test func aTornFileKeepsWhatIsWhole() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(CommandJournal.fileName)
        let lines = ["a", "b", "c"].map { CommandMemory.line(Self.entry($0, "{\"\($0)\":1}")) }
        let all = lines.flatMap { $0 }
        for length in 0...all.count {
            try Data(all[..<length]).write(to: URL(fileURLWithPath: path))
            var journal = CommandJournal(directory: folder.url.path)
            var memory = journal.read()
            // (Without its end a line may be whole.)
            let whole = (0...3).last { lines.prefix($0).joined().count - 1 <= length } ?? 0
            #expect(memory.entries.map(\.id) == Array(["a", "b", "c"].prefix(whole)), "\(length)")
            let next = Self.entry("d", "{}")
            memory.set(next)
            journal.append(next, isDurable: true, memory)
            var again = CommandJournal(directory: folder.url.path)
            #expect(again.read().entries.map(\.id) == memory.entries.map(\.id), "\(length)")
        }
    }

    @Test func withoutAFolderItSaysSoAndGoesOn() throws {
        let folder = try TemporaryFolder()
        var journal = CommandJournal(directory: folder.path("none/below"))
        var memory = journal.read()
        let entry = Self.entry("a", "{}")
        memory.set(entry)
        journal.append(entry, isDurable: true, memory)
        #expect(journal.problem != nil)
        try FileManager.default.createDirectory(
            atPath: folder.path("none/below"), withIntermediateDirectories: true)
        journal.append(entry, isDurable: true, memory)
        #expect(journal.problem == nil)
        var again = CommandJournal(directory: folder.path("none/below"))
        #expect(again.read().entries.map(\.id) == ["a"])
    }
}
