import Settings
import TestSupport
import Testing

@testable import Agent

/// A larger budget is for a disk that has room for it.
@Suite(.timeLimit(.minutes(10))) struct BudgetRoomTests {
    @Test func theDiskSaysHowMuchThereIsRoomFor() throws {
        let folder = try TemporaryFolder()
        var storage = Configuration().storage
        (storage.directory, storage.budget) = (folder.url.path, 16)
        #expect(storage.problem(used: 0) == nil)
        storage.budget = 1 << 40
        let problem = try #require(storage.problem(used: 0))
        #expect(problem.contains("more than \(folder.url.path) has room for: at most "))
        // What is there already is not needed a second time.
        #expect(storage.problem(used: (1 << 40) * 1_000_000) == nil)
        storage.directory += "/nowhere"
        #expect(storage.problem(used: 0)?.hasSuffix("No such file or directory") == true)
    }

    @Test func aCommandIsAnsweredByTheDisk() throws {
        let bench = try AgentBench("storage: {budget_mb: 16}", [.sampling, .storage])
        #expect(bench.blocks(1) && bench.change("{\"storage\":{\"budget_mb\":17}}"))
        var wanted = Configuration().storage
        (wanted.directory, wanted.budget) = (bench.folder.url.path, 1_048_576)
        // (A terabyte, the most that can be asked for: some machines have it.)
        #expect(bench.change("{\"storage\":{\"budget_mb\":1048576}}") == (wanted.problem(used: 0) == nil))
        #expect(!bench.dispatcher.isChanging && bench.change("{\"storage\":{\"budget_mb\":18}}"))
    }
}
