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
