import Foundation
import Messages
import Platform
import Settings
import TestSupport
import Testing

@testable import Agent

/// A memory card that says nothing for a while. Defect: the main thread, which feeds the watchdog, waited for it with every
/// change of the settings and every command.
@Suite(.timeLimit(.minutes(10))) struct SlowDiskTests {
    /// The system's files, but nothing is ever on the disk until it is let go.
    private final class HangingFiles: FileLayer {
        private let gate = DispatchSemaphore(value: 0)
        private let hangs = Atomic<Bool>(false)
        let isWaiting = Atomic<Bool>(false)
        private let system = SystemFiles()

        func hang() { hangs.store(true, ordering: .releasing) }
        func release() {
            hangs.store(false, ordering: .releasing)
            gate.signal()
        }
        func sync(_ descriptor: Int32) throws(FileError) {
            if hangs.load(ordering: .acquiring) {
                isWaiting.store(true, ordering: .releasing)
                gate.wait()
            }
            try system.sync(descriptor)
        }
        func openFolder(_ path: String) throws(FileError) -> Int32 { try system.openFolder(path) }
        func remove(_ path: String) throws(FileError) { try system.remove(path) }
        func create(_ path: String) throws(FileError) -> Int32 { try system.create(path) }
        func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) throws(FileError) -> Int {
            try system.write(descriptor, bytes)
        }
        func close(_ descriptor: Int32) throws(FileError) { try system.close(descriptor) }
        func rename(_ path: String, to target: String) throws(FileError) { try system.rename(path, to: target) }
        func keep(_ path: String, as target: String) throws(FileError) { try system.keep(path, as: target) }
        func isFolder(_ path: String) -> Bool { system.isFolder(path) }
    }

    @Test func aCardThatHangsDelaysTheReplyAndNothingElse() throws {
        let files = HangingFiles()
        let bench = try AgentBench("trace: {rate_hz: 20}", [.sampling], files: files)
        #expect(bench.blocks(3))
        bench.send("config", #""set":{"trace":{"rate_hz":10}}"#)
        let writes = bench.storage.files
        let writer = Thread { while !files.isWaiting.load(ordering: .acquiring) { writes.work() } }
        files.hang()
        writer.start()
        var replies: [(id: String, phase: String, codes: [String])] = []
        func round() {
            _ = bench.dispatcher.round(&bench.reporter)
            bench.reporter.look()
            replies += bench.replies()
        }
        #expect(
            eventually {
                round()
                return files.isWaiting.load(ordering: .acquiring)
            })
        // What feeds the watchdog: rounds of the main thread, and a thread that samples; other commands are answered.
        let heartbeat = bench.status.heartbeat.load(ordering: .relaxed)
        #expect(bench.blocks(5))
        bench.send("ping")
        for _ in 0..<20 { round() }
        #expect(bench.status.heartbeat.load(ordering: .relaxed) >= heartbeat + 5)
        #expect(replies.map(\.id) == ["q2"] && replies.map(\.phase) == ["done"], "\(replies)")
        #expect(bench.keeper.ledger.revision == 0 && bench.keeper.inForce.configuration.trace.rate == 20)
        #expect(!FileManager.default.fileExists(atPath: bench.folder.path("settings.json")))
        files.release()
        #expect(
            eventually {
                writes.work()
                round()
                if bench.dispatcher.stepUnderWay == .commit { bench.gate.give(1) }
                return replies.count == 2
            })
        #expect(replies.last?.id == "q1" && replies.last?.phase == "done")
        #expect(bench.keeper.ledger.revision == 1 && bench.keeper.inForce.configuration.trace.rate == 10)
        #expect(FileManager.default.fileExists(atPath: bench.folder.path("settings.json")))
    }

    /// A command is carried out when the disk knows of it, and refused when that takes too long.
    @Test func aCommandThatTheDiskDoesNotTakeDownIsNotCarriedOut() throws {
        let bench = try AgentBench("", [])
        bench.send("reset-extremes")
        bench.send("ping")
        _ = bench.dispatcher.round(&bench.reporter)
        #expect(!bench.orders.hasOrders && bench.replies().isEmpty, "those behind it wait, in their order")
        let now = HostClock.monotonic()
        bench.dispatcher.takeWrites(&bench.reporter, now: now + 1_000_000)
        #expect(bench.replies().isEmpty)
        bench.dispatcher.takeWrites(&bench.reporter, now: now + DiskWaits.patience + 1)
        #expect(bench.replies().map(\.codes) == [["unavailable"]])
        bench.round()
        #expect(!bench.orders.hasOrders && bench.replies().map(\.id) == ["q2"])
    }

    /// Also while the spool cannot be opened, and at the end.
    @Test func smallFilesAreWrittenWithoutASpoolAndBeforeTheEnd() throws {
        let bench = try AgentBench("", [.storage]) { folder in
            try FileManager.default.createDirectory(
                atPath: folder.path("spool.db"), withIntermediateDirectories: false)
            try folder.write("spool.db/inside", "x")
        }
        let written = Published()
        let first = bench.storage.files.put(.settings) { written.note("first") }
        #expect(eventually { bench.storage.files.takeOutcomes().contains { $0.number == first && $0.problem == nil } })
        for name in ["a", "b"] { bench.storage.files.put(name == "a" ? .settings : .commands) { written.note(name) } }
        #expect(bench.storage.stop(within: 5))
        #expect(written.all == ["first", "a", "b"])
    }

    /// Nothing piles up behind a card that hangs.
    @Test func ofEachFileOneWriteWaits() {
        let (files, written) = (FileWrites(wake: nil, answered: nil), Published())
        var last = 0
        for number in 0..<100 { last = files.put(.settings) { written.note("\(number)") } }
        files.put(.homeAssistant) { "full" }
        files.work()
        let outcomes = files.takeOutcomes()
        #expect(written.all == ["99"] && outcomes.map(\.number) == [last, last + 1])
        #expect(outcomes.map(\.problem) == [nil, "full"] && files.takeOutcomes().isEmpty)
    }

    private final class Published: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func note(_ name: String) -> String? {
            names.withLock { $0.append(name) }
            return nil
        }
    }
}
