import Messages
import Platform
import Values

/// State that the hub's thread writes and the server's threads show.
public final class SharedState: Sendable {
    /// A station's description of itself.
    public struct StationState: Sendable {
        public var id: String
        public var info: InfoReading?
        public var config: ConfigReading?
        public var level: LevelReading?
        public var health: HealthReading?
        public var isOnline: Bool?
        /// Its last `data/vibration`.
        public var vibration: VibrationReading?
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

/// Why the feed does not take something that came from outside. Each is counted, and said once an hour for a station.
public enum FeedRefusal: String, Sendable, CaseIterable {
    /// Not a message of its kind: no JSON, a member lacks, or has another type.
    case syntax
    /// The message is larger than any of its kind.
    case size
    /// Samples or an event later than the feed's clock allows (`feed.ahead_s`).
    case future
    /// Samples or an event older than what the ring keeps (`feed.days`).
    case old
    /// Degrees, metres, kilometres, or a magnitude outside of the Earth.
    case place
    /// Codes that miniSEED 2 has no room for, or that another station has.
    case codes
    /// The event's id does not begin with the id of the station whose topic it came on.
    case owner
    /// More stations or channels than are served, or more channels than one station may have.
    case channels
    /// More events of a station than are kept: its oldest went.
    case events
    /// A station's records beyond its share of the ring: its oldest went.
    case records
    /// A station's messages beyond its share of what may wait for the feed.
    case messages
}

/// Counts what was refused, and decides which of it is worth a line of the log.
struct Refusals {
    /// Seconds after which a station and reason are said again.
    private static let pause = 3600.0
    private static let mostRemembered = 1000

    private(set) var counts: [FeedRefusal: Int] = [:]
    /// By station and reason: monotonic seconds at which it may be said again.
    private var quiet: [String: Double] = [:]

    /// - Parameters:
    ///   - station: its id.
    ///   - words: what was refused, what is allowed, and what to do.
    ///   - now: monotonic seconds.
    /// - Returns: a line for the log; nil: it has been said a short time ago.
    mutating func note(
        _ reason: FeedRefusal, of station: String, count: Int = 1, at now: Double, _ words: @autoclosure () -> String
    ) -> String? {
        counts[reason, default: 0] += count
        let key = "\(reason.rawValue) \(station)"
        if now < quiet[key] ?? -.infinity { return nil }
        if quiet.count >= Self.mostRemembered, quiet[key] == nil {
            quiet = quiet.filter { now < $0.value }
            // (Who invents names gets no lines for them.)
            if quiet.count >= Self.mostRemembered { return nil }
        }
        quiet[key] = now + Self.pause
        return "station \(station): \(words()) (\(reason.rawValue); said at most once an hour)"
    }
}
