import Threads

/// Samples that a client of the web services wants and the ring does not have: the server's threads wish, the hub asks the
/// station and says when it has answered.
public final class FetchWishes: Sendable {
    /// A time of a station, nanoseconds of UTC.
    public struct Wish: Sendable {
        public var station: String
        public var from: Int64
        public var to: Int64
        /// Is told when nothing more will come.
        public var settled: @Sendable () -> Void

        public init(station: String, from: Int64, to: Int64, settled: @escaping @Sendable () -> Void) {
            (self.station, self.from, self.to, self.settled) = (station, from, to, settled)
        }
    }

    private let wishes = Mutex<[Wish]>([])
    private let wake: Wake

    /// - Parameter wake: the hub's.
    public init(wake: Wake) { self.wake = wake }

    public func ask(_ new: [Wish]) {
        wishes.withLock { $0 += new }
        wake.signal()
    }

    /// Takes the wishes, on the hub's thread.
    func take() -> [Wish] {
        wishes.withLock { wishes in
            defer { wishes = [] }
            return wishes
        }
    }
}
