import Foundation
import Messages
import TestSupport
import Testing

@testable import Agent

/// More commands than the other threads take: each is told so, nothing is taken back silently, nothing grows.
@Suite(.timeLimit(.minutes(10))) struct BusyTests {
    /// Defect: the order did not find a place in the queue, and the change was answered `done` all the same.
    @Test(arguments: [16, 30]) func aChangeThatFindsNoPlaceIsBusyAndNothingHasChanged(_ count: Int) throws {
        let bench = try AgentBench("", [])
        for _ in 0..<count { bench.send("reset-extremes") }
        bench.send("config", #""set":{"trace":{"rate_hz":10}}"#)
        bench.round()
        let replies = bench.replies()
        #expect(replies.count { $0.codes == ["busy"] } == count - 16 + 1)
        #expect(replies.last?.id == "q\(count + 1)" && replies.last?.phase == "failed", "\(replies)")
        #expect(bench.keeper.ledger.revision == 0 && !bench.dispatcher.isChanging)
        #expect(bench.keeper.inForce.configuration.trace.rate == 20)
        #expect(!FileManager.default.fileExists(atPath: bench.folder.path("settings.json")))
        // When the sampling thread has taken them it is as ever.
        bench.carryOutOrders()
        #expect(bench.replies().isEmpty)
        bench.send("config", #""set":{"trace":{"rate_hz":10}}"#)
        bench.round()
        #expect(bench.carryOutOrders() == 1 && bench.keeper.ledger.revision == 0)
        bench.round()
        #expect(bench.keeper.ledger.revision == 1 && bench.dispatcher.isChanging)
    }

    /// A relative: a change that goes back by itself found no place either, and the pipeline kept it.
    @Test func aChangeThatIsTakenBackWaitsForItsPlace() throws {
        let bench = try AgentBench("", [])
        bench.send("config", #""set":{"trace":{"rate_hz":10}},"confirm_s":1"#)
        bench.round()
        for _ in 0..<2 {
            bench.carryOutOrders()
            bench.round()
        }
        for _ in 0..<16 { bench.send("reset-extremes") }
        bench.round()
        #expect(!bench.orders.hasRoom && bench.keeper.ledger.pending != nil)
        #expect(eventually { HostClock.monotonic() > bench.keeper.ledger.pending?.deadlineMonotonic ?? 0 })
        bench.round()
        #expect(bench.keeper.ledger.pending != nil)
        _ = bench.orders.takeOrders()
        bench.round()
        #expect(bench.carryOutOrders() == 1)
        bench.round()
        #expect(bench.keeper.ledger.pending == nil && bench.keeper.settings.configuration.trace.rate == 20)
        #expect(bench.orders.takeOrders().count == 1)
    }

    /// Defect: while a change was under way, those behind it queued without a limit.
    @Test func whatWaitsForAChangeIsBounded() throws {
        let bench = try AgentBench("", [])
        for rate in 1...30 { bench.send("config", "\"set\":{\"trace\":{\"rate_hz\":\(rate)}}") }
        bench.round()
        #expect(bench.dispatcher.changes.waiting.count == ChangeCoordinator.waitingLimit)
        #expect(bench.replies().count { $0.codes == ["busy"] } == 30 - 1 - ChangeCoordinator.waitingLimit)
        // In the order in which they came, as before.
        for done in 1...9 {
            #expect(bench.carryOutOrders() == 1)
            bench.round()
            #expect(bench.keeper.settings.configuration.trace.rate == Double(done))
            #expect(bench.carryOutOrders() == 0)
            bench.round()
        }
        #expect(bench.dispatcher.changes.waiting.isEmpty && !bench.dispatcher.isChanging)
    }

    @Test func whatWaitsForAChangeIsBoundedInBytesToo() throws {
        let bench = try AgentBench("", [])
        bench.send("config", #""set":{"trace":{"rate_hz":10}}"#)
        let long = "\"set\":{\"trace\":{\"rate_hz\":\(String(repeating: " ", count: 40_000))5}}"
        for _ in 0..<3 { bench.send("config", long) }
        bench.round()
        #expect(bench.dispatcher.changes.waiting.count == 1)
        #expect(bench.replies().count { $0.codes == ["busy"] } == 2)
    }

    /// A relative: commands to groups that wait for their time.
    @Test func commandsToGroupsAreBoundedInBytes() throws {
        let bench = try AgentBench("", [])
        let long = "\"set\":{\"trace\":{\"rate_hz\":\(String(repeating: " ", count: 40_000))5}}"
        for _ in 0..<4 { bench.send("config", long, group: "all") }
        bench.round()
        #expect(bench.replies().count { $0.codes == ["rate_limited"] } == 3)
    }

    /// Defect: as many as came were queued, and the disk was filled with them.
    @Test func snapshotsAreTwoAtATime() throws {
        let bench = try AgentBench("", [])
        for _ in 0..<6 { bench.send("snapshot", "\"last_s\":604800") }
        bench.round()
        #expect(bench.replies().count { $0.codes == ["busy"] } == 4)
        let taken = bench.storage.orders.takeOrders()
        #expect(taken.count == 2)
        for (number, _) in taken { bench.storage.orders.answer(number, .began(.object([]))) }
        bench.round()
        bench.send("snapshot", "\"last_s\":1")
        bench.round()
        #expect(bench.replies().contains { $0.id == "q7" && $0.codes == ["busy"] })
        bench.storage.orders.answer(taken[0].number, .done(.object([])))
        bench.round()
        bench.send("snapshot", "\"last_s\":1")
        bench.round()
        #expect(bench.storage.orders.takeOrders().count == 1)
    }

    /// Defect: sixteen self-tests were queued, each with a gap of its own.
    @Test func selfTestsAreOneAtATime() throws {
        let bench = try AgentBench("", [])
        for _ in 0..<5 { bench.send("selftest") }
        bench.round()
        #expect(bench.replies().count { $0.codes == ["busy"] } == 4)
        #expect(bench.orders.takeOrders().count == 1)
    }

    @Test func noGroupIsGivenOneID() throws {
        let bench = try AgentBench("", [])
        bench.send("config", #""set":{"station":{"id":"same"}}"#)
        bench.round()
        for _ in 0..<2 {
            bench.carryOutOrders()
            bench.round()
        }
        #expect(bench.keeper.ledger.revision == 1)
        bench.send("config", #""set":{"station":{"id":"other"}}"#, group: "all")
        bench.round()
        #expect(
            eventually {
                bench.round()
                return bench.replies().contains { $0.id == "q2" && $0.codes == ["locked"] }
            })
        #expect(bench.keeper.ledger.revision == 1)
    }
}
