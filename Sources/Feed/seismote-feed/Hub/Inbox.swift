import Messages
import Threads

/// What the broker has sent and the hub has not taken yet. It never holds more than it may: what is too much is counted,
/// and missed by the order of the samples like anything else that is lost.
final class Inbox: Sendable {
    private struct Contents {
        var messages: [InboundMessage] = []
        var bytes = 0
        var dropped = 0
    }

    private let contents = Mutex(Contents())
    private let mostBytes: Int
    let wake: Wake

    init(mostBytes: Int) throws(WakeError) {
        self.mostBytes = mostBytes
        wake = try Wake()
    }

    func put(_ message: InboundMessage) {
        contents.withLock { contents in
            guard contents.bytes + message.payload.count <= mostBytes else {
                contents.dropped += 1
                return
            }
            contents.bytes += message.payload.count + 200
            contents.messages.append(message)
        }
    }

    /// All there is, and how many were dropped since.
    func take() -> (messages: [InboundMessage], dropped: Int) {
        contents.withLock { contents in
            defer { contents = Contents() }
            return (contents.messages, contents.dropped)
        }
    }
}
