import Commands
import Threads

/// The way of remembered commands to their journal: steps are taken on the main thread, and written by the thread of the
/// disk, several at once when it is slow.
final class CommandRecord: Sendable {
    private struct Steps {
        var entries: [CommandMemory.Entry] = []
        var isDurable = false
        var memory = CommandMemory()
    }
    private let steps = Mutex(Steps())
    private let journal: Mutex<CommandJournal>

    init(_ journal: CommandJournal) { self.journal = Mutex(journal) }

    /// - Parameters:
    ///   - isDurable: it has to be there after a power cut too.
    ///   - memory: all that is remembered.
    /// - Returns: the number of the outcome.
    func append(
        _ entry: CommandMemory.Entry, isDurable: Bool, _ memory: CommandMemory, to writes: FileWrites
    ) -> Int {
        steps.withLock { steps in
            // (Not more than are remembered.)
            steps.entries.removeAll { $0.id == entry.id }
            steps.entries = steps.entries.suffix(CommandMemory.limit - 1) + [entry]
            steps.isDurable = steps.isDurable || isDurable
            steps.memory = memory
        }
        return writes.put(.commands) { self.write() }
    }

    /// - Returns: why not.
    private func write() -> String? {
        let steps = self.steps.withLock { steps in
            defer { (steps.entries, steps.isDurable) = ([], false) }
            return steps
        }
        return journal.withLock { journal in
            for (index, entry) in steps.entries.enumerated() {
                let isLast = index == steps.entries.count - 1
                journal.append(entry, isDurable: isLast && steps.isDurable, steps.memory)
            }
            return journal.problem
        }
    }
}
