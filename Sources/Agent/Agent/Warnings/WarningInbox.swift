import Messages
import Threads

/// The network's events on their way from the link's thread to the main thread, apart from commands: no number of those keeps
/// a warning waiting. Bounded: the newest ones stay, and those that they push out are counted.
final class WarningInbox: Sendable {
    static let messages = 8

    private struct State {
        var waiting: [InboundMessage] = []
        var lost = 0
    }
    private let state = Mutex(State())
    private let wake: Wake

    /// - Parameter wake: of the main thread.
    init(wake: Wake) { self.wake = wake }

    /// Never waits.
    func put(_ message: InboundMessage) {
        state.withLock { state in
            if state.waiting.count >= Self.messages {
                state.waiting.removeFirst()
                state.lost += 1
            }
            state.waiting.append(message)
        }
        wake.signal()
    }

    /// The newest ones in their order, and how many older ones found no room.
    func take() -> (messages: [InboundMessage], lost: Int) {
        state.withLock { state in
            defer { state = State() }
            return (state.waiting, state.lost)
        }
    }
}
