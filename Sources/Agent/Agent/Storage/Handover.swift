import Threads

/// What earlier runs of the agent have found: from the thread that stores to the one that goes on with it.
final class Handover<Found: Sendable>: Sendable {
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
