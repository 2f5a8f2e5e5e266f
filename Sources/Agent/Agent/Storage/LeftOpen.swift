import Messages
import Threads

/// Events that the broker retains of a run before this one, on their way from the link's thread to the one that owns the
/// disk. Bounded: each broker of the list has one.
final class LeftOpen: Sendable {
    private static let limit = 16
    private let messages = Mutex<[InboundMessage]>([])

    func put(_ message: InboundMessage) {
        messages.withLock { if $0.count < Self.limit { $0.append(message) } }
    }

    func take() -> [InboundMessage] {
        messages.withLock { messages in
            defer { messages.removeAll() }
            return messages
        }
    }
}
