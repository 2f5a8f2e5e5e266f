import Threads
import Vibration

/// What earlier runs of the agent have followed of natural modes: from the thread that stores to the one that finds them.
final class PastModes: Sendable {
    private let found = Mutex<FollowedModes?>(nil)

    func put(_ modes: FollowedModes) { found.withLock { $0 = modes } }

    /// Nil: there is nothing new.
    func take() -> FollowedModes? { found.withLock { $0.take() } }
}
