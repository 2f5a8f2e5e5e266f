import Threads

/// Hands findings of earlier runs from the storage thread to the thread that goes on with them.
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
