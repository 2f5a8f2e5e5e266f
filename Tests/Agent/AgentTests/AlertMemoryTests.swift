import Alerts
import Foundation
import TestSupport
import Testing

@testable import Agent

/// Which alerts a run leaves to the next one to empty.
@Suite struct AlertMemoryTests {
    private static let storage = ["queue_dropping", "storage_failed", "storage_set_aside", "storage_taken"]

    private final class Run {
        private var memory: AlertMemory
        let left: [String]

        init(_ folder: TemporaryFolder) {
            memory = AlertMemory(directory: folder.path("state"))
            left = memory.read().sorted()
        }

        /// Whether something was written.
        func raise(_ code: String) -> Bool { done(memory.raise(code)) }
        func look(_ seconds: Int64, isEmptied: Bool = true, isConnected: Bool = true) -> Bool {
            done(memory.look(isEmptied: isEmptied, isConnected: isConnected, now: seconds * 1_000_000_000))
        }

        private func done(_ write: (@Sendable () -> String?)?) -> Bool {
            if let write { #expect(write() == nil) }
            return write != nil
        }
    }

    @Test func aRunLeavesWhatItHasRaised() throws {
        let folder = try TemporaryFolder()
        let first = Run(folder)
        // Nothing is known: all may be there.
        #expect(first.left.count == AlertDeclaration.all.count)
        #expect(!first.raise("sensor_missing"))
        // Not before all was emptied and the connection has held for a minute.
        #expect(!first.look(0, isEmptied: false) && !first.look(70) && !first.look(100, isConnected: false))
        #expect(!first.look(110) && !first.look(169) && first.look(170) && !first.look(500))
        let second = Run(folder)
        #expect(second.left == (["sensor_missing"] + Self.storage).sorted())
        #expect(second.raise("clock_unknown") && !second.raise("clock_unknown"))
        // What it ends over is not forgotten.
        let third = Run(folder)
        #expect(third.left == (["clock_unknown", "sensor_missing"] + Self.storage).sorted())
        #expect(!third.look(0) && third.look(60))
        #expect(Run(folder).left == Self.storage)
    }

    @Test(arguments: ["", "{}", "[1]", #"{"v":1,"codes":7}"#]) func aFileThatCannotBeReadMeansAll(text: String) throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("state"), withIntermediateDirectories: true)
        try folder.write("state/alerts.json", text)
        #expect(Run(folder).left.count == AlertDeclaration.all.count)
        try folder.write("state/alerts.json", #"{"v":1,"codes":["sensor_busy","of the future",3]}"#)
        #expect(Run(folder).left == (["sensor_busy"] + Self.storage).sorted())
    }
}
