import Messages
import Platform

/// Messages of the broker that the hub has not taken yet. It is bounded, and one station may fill no more than a
/// quarter of it. Messages beyond that are counted, and missed by the order of the samples like any other loss.
public final class FairInbox: Sendable {
    /// All that has come.
    public struct Taken: Sendable {
        public var messages: [InboundMessage] = []
        /// Messages for which there was no room.
        public var dropped = 0
        /// Messages beyond a station's part, by its id.
        public var refused: [String: Int] = [:]
        public init() {}
    }

    private struct Contents {
        var taken = Taken()
        var bytes = 0
        var bytesOf: [String: Int] = [:]
    }

    /// Overhead of a message besides its payload.
    private static let overhead = 200

    private let contents = Mutex(Contents())
    private let mostBytes: Int
    private let root: String
    public let wake: Wake

    /// - Parameter root: what topics begin with.
    public init(mostBytes: Int, root: String) throws(WakeError) {
        (self.mostBytes, self.root) = (mostBytes, root)
        wake = try Wake()
    }

    public func put(_ message: InboundMessage) {
        let station = Topics.split(message.topic, root: root)?.station ?? "network"
        let size = message.payload.count + Self.overhead
        contents.withLock { contents in
            guard contents.bytes + size <= mostBytes else {
                contents.taken.dropped += 1
                return
            }
            guard contents.bytesOf[station, default: 0] + size <= mostBytes / 4 else {
                contents.taken.refused[station, default: 0] += 1
                return
            }
            contents.bytes += size
            contents.bytesOf[station, default: 0] += size
            contents.taken.messages.append(message)
        }
    }

    /// All there is, which is gone from here.
    public func take() -> Taken {
        contents.withLock { contents in
            defer { contents = Contents() }
            return contents.taken
        }
    }
}
