import Alerts
import Messages
import Platform
import Spool
import Vibration

/// State of the storage thread for the others.
final class StorageStatus: Sendable {
    struct Words: Sendable {
        /// Reason why the storage is unavailable; nil: it works.
        var problem: String?
        /// The damaged file that was set aside at the start or since, in words.
        var setAside: String?
        /// The files were taken away while they were in use: what, in words, and when (monotonic, ns).
        var taken: (words: String, at: Int64)?
        var statistics = SpoolStatistics()
        /// Messages on disk that the link has in memory as well, and their bytes: they are counted there.
        var inMemory = 0
        var bytesInMemory = 0
    }

    private let words = Mutex(Words())
    /// Natural modes that are stored.
    let modes = Mailbox<FollowedModes>()
    /// Results of the intervals of vibration of the last days.
    let vibration = Mailbox<VibrationPast>()

    var now: Words { words.withLock { $0 } }

    func change(_ body: (inout Words) -> Void) { words.withLock { body(&$0) } }
}

extension AlertFacts.Storage {
    init(_ words: StorageStatus.Words) {
        self.init()
        (problem, setAside, taken) = (words.problem, words.setAside, words.taken)
        let statistics = words.statistics
        // (An alert is of what happens now: the file remembers what an earlier run dropped.)
        for priority in Priority.allCases {
            dropped[priority] = statistics.dropped[priority] - statistics.droppedBefore[priority]
        }
        (damaged, damagedOthers) = (statistics.damaged, statistics.damagedOthers)
        (unknownLosses, rebuiltIndices) = (statistics.unknownLosses, statistics.rebuiltIndices)
        damagedPages = statistics.damagedPages
    }
}

/// Hands findings of earlier runs from the storage thread to the thread that goes on with them.
final class Mailbox<Found: Sendable>: Sendable {
    private let found = Mutex<Found?>(nil)
    private let isThere = Atomic<Bool>(false)

    func put(_ value: Found) {
        found.withLock { $0 = value }
        isThere.store(true, ordering: .releasing)
    }

    /// Nil: there is nothing new. Takes no lock then.
    func take() -> Found? {
        guard isThere.load(ordering: .acquiring) else { return nil }
        isThere.store(false, ordering: .releasing)
        return found.withLock { $0.take() }
    }
}
