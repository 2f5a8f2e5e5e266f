import Messages
import Platform

/// Messages on their way from the link's thread to the main thread. Bounded; what does not fit is counted.
final class MessageInbox: Sendable {
    private struct State {
        var waiting: [InboundMessage] = []
        var bytes = 0
        var lost = 0
    }
    private let state = Mutex(State())
    private let messages, bytes: Int
    private let keepsNewest: Bool
    /// Signalled when there is something; also by others who have news for the main thread.
    let wake: Wake

    /// - Parameter keepsNewest: a message that does not fit pushes the oldest out; else it is lost itself.
    private init(messages: Int, bytes: Int, keepsNewest: Bool, wake: Wake) {
        (self.messages, self.bytes, self.keepsNewest, self.wake) = (messages, bytes, keepsNewest, wake)
    }

    static func commands() throws(AgentError) -> MessageInbox {
        MessageInbox(messages: 64, bytes: 1 << 20, keepsNewest: false, wake: try .make())
    }

    /// For the network's events, apart from commands: no number of those keeps a warning waiting.
    /// - Parameter wake: of the main thread.
    static func events(wake: Wake) -> MessageInbox {
        MessageInbox(messages: 8, bytes: .max, keepsNewest: true, wake: wake)
    }

    /// Never waits.
    func put(_ message: InboundMessage) {
        let isIn = state.withLock { state in
            if keepsNewest, state.waiting.count == messages {
                state.bytes -= state.waiting.removeFirst().payload.count
                state.lost += 1
            }
            guard state.waiting.count < messages, state.bytes + message.payload.count <= bytes else {
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
