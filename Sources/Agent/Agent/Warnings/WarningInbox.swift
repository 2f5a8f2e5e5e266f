import Messages
import Threads

/// The network's events on their way from the link's thread to the main thread, apart from commands: no number of those keeps
/// a warning waiting. Bounded; the newest ones count.
final class WarningInbox: Sendable {
    static let messages = 8

    private let waiting = Mutex<[InboundMessage]>([])
    private let wake: Wake

    /// - Parameter wake: of the main thread.
    init(wake: Wake) { self.wake = wake }

    /// Never waits.
    func put(_ message: InboundMessage) {
        waiting.withLock { waiting in
            if waiting.count >= Self.messages { waiting.removeFirst() }
            waiting.append(message)
        }
        wake.signal()
    }

    func take() -> [InboundMessage] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}
