import Messages
import Threads

/// Messages on their way from the link's thread to the main thread. Bounded; what does not fit is counted.
final class CommandInbox: Sendable {
    static let messages = 64
    static let bytes = 1 << 20

    private struct State {
        var waiting: [InboundMessage] = []
        var bytes = 0
        var lost = 0
    }
    private let state = Mutex(State())
    /// Signalled when there is something; also by others who have news for the main thread.
    let wake: Wake

    init() throws(AgentError) { wake = try .make() }

    /// Never waits.
    func put(_ message: InboundMessage) {
        let isIn = state.withLock { state in
            guard state.waiting.count < Self.messages, state.bytes + message.payload.count <= Self.bytes else {
                state.lost += 1
                return false
            }
            state.waiting.append(message)
            state.bytes += message.payload.count
            return true
        }
        if isIn { wake.signal() }
    }

    /// Returns all waiting messages in their order, and how many found no room.
    func take() -> (messages: [InboundMessage], lost: Int) {
        state.withLock { state in
            defer { state = State() }
            return (state.waiting, state.lost)
        }
    }
}
