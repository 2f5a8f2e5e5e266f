/// What waits for a turn, by who asked for it: one of each in turn, so that nobody waits behind all that another has asked
/// for.
public struct FairQueue<Item> {
    private var items: [String: [Item]] = [:]
    /// Who has something, in the order of turns.
    private var turns: [String] = []

    public init() {}

    public var isEmpty: Bool { turns.isEmpty }

    public mutating func append(_ item: Item, of owner: String) {
        if items[owner] == nil { turns.append(owner) }
        items[owner, default: []].append(item)
    }

    /// The oldest item of whoever's turn it is.
    public mutating func next() -> Item? {
        guard let owner = turns.first, var own = items[owner] else { return nil }
        turns.removeFirst()
        let item = own.removeFirst()
        if own.isEmpty {
            items[owner] = nil
        } else {
            items[owner] = own
            turns.append(owner)
        }
        return item
    }
}

extension FairQueue: Sendable where Item: Sendable {}
