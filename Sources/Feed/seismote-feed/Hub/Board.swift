import Exchange
import Feed
import Messages
import Threads

/// What the hub's thread tells and the server's thread shows.
final class Board: Sendable {
    /// What a station says of itself.
    struct StationState: Sendable {
        var id: String
        var info: Value?
        var config: Value?
        var level: Value?
        var health: Value?
        var isOnline: Bool?
        /// Monotonic seconds of the newest level.
        var levelAt = 0.0
    }

    /// Counted since the start.
    struct Counts: Sendable {
        var messages = 0
        var unreadable = 0
        var packets = 0
        var missing = 0
        var duplicates = 0
        var late = 0
        var asked = 0
        /// Samples that came because a client wanted them.
        var fetched = 0
        var shakeSent = 0
        var shakeFailed = 0
        var dropped = 0
        var ringBytes = 0
        var batches = 0
    }

    struct Contents: Sendable {
        /// In the order of the archive.
        var stations: [FeedStation] = []
        /// Their numbers in the ring.
        var numbers: [Int64] = []
        var channels: [[String: Int64]] = []
        /// The newest packets of each.
        var recent: [[FeedPacket]] = []
        /// Of the broker, by id.
        var states: [String: StationState] = [:]
        /// Samples per second of the sensors, by id.
        var rates: [String: Double] = [:]
        /// Ids by `XX_BASE`.
        var ids: [String: String] = [:]
        var counts = Counts()
        var isConnected = false
    }

    private let contents = Mutex(Contents())

    func read<R>(_ body: (borrowing Contents) -> R) -> R { contents.withLock { body($0) } }
    func change(_ body: (inout Contents) -> Void) { contents.withLock { body(&$0) } }
}
