import Platform

/// Small writes for the thread that owns the disk, so that nothing else ever waits for a memory card: numbered, one after
/// the other, with an outcome each that wakes the main thread. They are made also while the spool cannot be opened.
///
/// Bounded by itself: of each file one write waits at most. A later one takes its place, and stands for it.
final class FileWrites: Sendable {
    enum File: Sendable {
        case settings, commands, selfTest, calibration, homeAssistant, alerts, level
        /// Nothing is written: what the connection needs is looked for, or room for the storage.
        case credentials, room
        /// A wish for the updater.
        case update
    }

    struct Outcome: Sendable {
        var file: File
        /// It stands for all earlier ones of its file too.
        var number: Int
        /// Nil: it is on the disk.
        var problem: String?
    }

    private struct State {
        var waiting: [(file: File, number: Int, body: @Sendable () -> String?)] = []
        var outcomes: [Outcome] = []
        var last = 0
    }
    private let state = Mutex(State())
    private let wake: Wake?
    private let answered: Wake?

    /// - Parameters:
    ///   - wake: of the thread that makes the writes.
    ///   - answered: of the one that takes the outcomes.
    init(wake: Wake?, answered: Wake?) {
        self.wake = wake
        self.answered = answered
    }

    /// - Parameter body: says why it failed.
    /// - Returns: the number of its outcome.
    @discardableResult
    func put(_ file: File, _ body: @escaping @Sendable () -> String?) -> Int {
        let number = state.withLock { state in
            state.last += 1
            state.waiting.removeAll { $0.file == file }
            state.waiting.append((file, state.last, body))
            return state.last
        }
        wake?.signal()
        return number
    }

    /// Makes all that wait; for the thread of the disk.
    func work() {
        while let next = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) {
            let problem = next.body()
            state.withLock { $0.outcomes.append(Outcome(file: next.file, number: next.number, problem: problem)) }
            answered?.signal()
        }
    }

    func takeOutcomes() -> [Outcome] {
        state.withLock { state in
            defer { state.outcomes.removeAll() }
            return state.outcomes
        }
    }
}
