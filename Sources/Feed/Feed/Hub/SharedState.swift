import Messages
import Platform
import Values

/// State that the hub's thread writes and the server's threads show.
public final class SharedState: Sendable {
    /// A station's description of itself.
    public struct StationState: Sendable {
        public var id: String
        public var info: Value?
        public var config: Value?
        public var level: Value?
        public var health: Value?
        public var isOnline: Bool?
        /// Its last `data/vibration`.
        public var vibration: Value?
        /// Monotonic seconds of the newest level, and of the newest interval of vibration.
        var levelAt = 0.0
        var vibrationAt = 0.0

        public init(id: String) { self.id = id }
    }

    /// Counted since the start.
    public struct Counts: Sendable {
        public var messages = 0
        public var unreadable = 0
        public var packets = 0
        public var missing = 0
        public var duplicates = 0
        public var late = 0
        public var asked = 0
        /// Samples that came because a client wanted them.
        public var fetched = 0
        public var shakeSent = 0
        public var dropped = 0
        public var ringBytes = 0
        public var refused: [FeedRefusal: Int] = [:]
    }

    public struct Contents: Sendable {
        /// In the order of the archive.
        public var stations: [FeedStation] = []
        /// Their numbers in the ring.
        public var numbers: [Int64] = []
        /// Numbers of the channels in the ring, by ``FeedStream/key(_:_:)``.
        public var channels: [[String: Int64]] = []
        /// The newest packets of each.
        public var recent: [[FeedPacket]] = []
        /// States of the broker's stations, by id.
        public var states: [String: StationState] = [:]
        /// Samples per second of the sensors, by id.
        public var rates: [String: Double] = [:]
        /// Ids by `XX_BASE`.
        public var ids: [String: String] = [:]
        public var events = EventIndex()
        public var counts = Counts()
        public var isConnected = false

        public init() {}
    }

    private let contents = Mutex(Contents())

    public init() {}

    public func read<R>(_ body: (borrowing Contents) -> R) -> R { contents.withLock { body($0) } }
    public func change(_ body: (inout Contents) -> Void) { contents.withLock { body(&$0) } }
}
