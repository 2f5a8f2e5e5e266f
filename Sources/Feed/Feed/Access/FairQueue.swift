import Messages
import Platform

/// Queue for turns, by owner. The turn goes to the owner with the least time used: nobody waits behind all that another
/// has asked for, and an owner of few requests goes before one of many.
///
/// (Start-time fair queueing: an owner's clock goes on with the time that is given to him; one who comes, or comes again,
/// begins a little before the clock of the one is whose turn it is: he goes before all who have not stopped asking, and nobody
/// saves up more than that by asking for nothing.)
public struct FairQueue<Item> {
    fileprivate struct Owner {
        var name: String
        var items: [Item] = []
        /// Seconds that were given to him, on the clock of all.
        var clock: Double
        /// Order among those whose clocks are equal: the lowest comes first.
        var order = 0
        /// Turns that have begun and not ended.
        var running = 0

        var isWaiting: Bool { !items.isEmpty }
        var isIdle: Bool { !isWaiting && running == 0 }
    }

    /// Estimated time of a turn until it has ended and is known better, seconds.
    private let estimate: Double
    private var owners: [Owner] = []
    private var places: [String: Int] = [:]
    /// Places of those who have something that waits.
    private var ready: [Int] = []
    private var clock = 0.0
    private var order = 0

    /// Seconds that one who comes is before the others.
    private static var lead: Double { 0.01 }
    /// Owners who wait for nothing and are remembered for what they were given.
    private static var mostIdle: Int { 1024 }

    public init(estimate: Double = 0.001) { self.estimate = estimate }

    public var isEmpty: Bool { ready.isEmpty }

    public mutating func append(_ item: Item, of name: String) {
        let place = place(of: name)
        if owners[place].isIdle { owners[place].clock = max(owners[place].clock, clock - Self.lead) }
        if !owners[place].isWaiting {
            order += 1
            owners[place].order = order
            ready.append(place)
        }
        owners[place].items.append(item)
    }

    /// Begins the turn of whoever has been given least. It ends with ``end(of:seconds:)``.
    public mutating func next() -> (item: Item, owner: String)? {
        var best: (index: Int, clock: Double, order: Int)?
        for (index, place) in ready.enumerated() {
            if let best, (best.clock, best.order) <= (owners[place].clock, owners[place].order) { continue }
            best = (index, owners[place].clock, owners[place].order)
        }
        guard let best else { return nil }
        let place = ready[best.index]
        let item = owners[place].items.removeFirst()
        clock = max(clock, best.clock)
        order += 1
        owners[place].order = order
        owners[place].clock += estimate
        owners[place].running += 1
        if !owners[place].isWaiting {
            ready.swapAt(best.index, ready.count - 1)
            ready.removeLast()
        }
        return (item, owners[place].name)
    }

    /// A turn has ended.
    /// - Parameter seconds: what it took.
    public mutating func end(of name: String, seconds: Double) {
        guard let place = places[name] else { return }
        owners[place].running -= 1
        owners[place].clock += seconds - estimate
        if owners.count - ready.count > Self.mostIdle { forget() }
    }

    private mutating func place(of name: String) -> Int {
        if let place = places[name] { return place }
        places[name] = owners.count
        owners.append(Owner(name: name, clock: clock - Self.lead))
        return owners.count - 1
    }

    /// Forgets half of those who wait for nothing: those who were given least.
    private mutating func forget() {
        let idle = owners.filter(\.isIdle).sorted { $0.clock > $1.clock }
        owners = owners.filter { !$0.isIdle } + idle.prefix(Self.mostIdle / 2)
        places = Dictionary(uniqueKeysWithValues: owners.enumerated().map { ($1.name, $0) })
        ready = owners.indices.filter { owners[$0].isWaiting }
    }
}

extension FairQueue: Sendable where Item: Sendable {}
extension FairQueue.Owner: Sendable where Item: Sendable {}

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

/// Choice of the owner who gives when the ring is full: the one with the most. (Max-min fairness: nobody loses anything
/// whose use is at most an equal part of all there is.)
enum FairShare {
    /// - Parameters:
    ///   - uses: what each has, in any unit.
    ///   - total: what all may have together.
    /// - Returns: the level down to which everybody above it has to give; nil: all is within the total.
    static func level(_ uses: [Int], total: Int) -> Int? {
        guard uses.reduce(0, +) > total else { return nil }
        var (left, count) = (max(0, total), uses.count)
        for use in uses.sorted() {
            // Who has less than an equal part of what is left keeps it all.
            guard use > left / count else {
                left -= use
                count -= 1
                continue
            }
            return left / count
        }
        return nil
    }
}
