import Spool

/// Which messages on disk the link has in memory, and up to where it has been offered the others. Pure.
struct Backfill {
    /// Bytes of each message that is on disk and in memory, by its key.
    private var inMemory: [Int64: Int] = [:]
    private var essentialCursor: Int64 = 0
    private var restCursor: Int64 = 0
    /// The first of those that are not to be offered now.
    private var heldEssential = Int64.max
    private var heldRest = Int64.max
    /// Number of connections that ended over each message.
    private var strikes: [Int64: Int] = [:]
    private(set) var bytes = 0

    /// Messages that are in memory as well.
    var count: Int { inMemory.count }

    func isInMemory(_ key: Int64) -> Bool { inMemory[key] != nil }

    /// Key after which to look for messages that have not been offered.
    func cursor(_ line: SpoolLine) -> Int64 {
        switch line {
        case .essential: essentialCursor
        case .rest: restCursor
        }
    }

    /// A live message has been written down and waits in memory.
    mutating func took(_ key: Int64, bytes: Int) {
        if inMemory.updateValue(bytes, forKey: key) == nil { self.bytes += bytes }
    }

    /// A message on disk was taken by the link.
    mutating func offered(_ key: Int64, _ line: SpoolLine, bytes: Int) {
        took(key, bytes: bytes)
        passed(key, line)
    }

    /// A message on disk needs no offer.
    mutating func passed(_ key: Int64, _ line: SpoolLine) {
        switch line {
        case .essential: essentialCursor = max(essentialCursor, key)
        case .rest: restCursor = max(restCursor, key)
        }
    }

    /// Offers all messages again that are not in memory.
    mutating func beginAnew() {
        (essentialCursor, restCursor) = (0, 0)
        (heldEssential, heldRest) = (.max, .max)
    }

    /// A message on disk is not to be offered until `rewind`.
    mutating func held(_ key: Int64, _ line: SpoolLine) {
        passed(key, line)
        switch line {
        case .essential: heldEssential = min(heldEssential, key)
        case .rest: heldRest = min(heldRest, key)
        }
    }

    /// Looks at held messages again.
    mutating func rewind() {
        // (Keys begin above 0.)
        if heldEssential < .max { essentialCursor = min(essentialCursor, heldEssential - 1) }
        if heldRest < .max { restCursor = min(restCursor, heldRest - 1) }
        (heldEssential, heldRest) = (.max, .max)
    }

    /// A connection ended over this message.
    /// - Returns: false when that has happened too often, or to too many.
    mutating func struck(_ key: Int64) -> Bool {
        let count = strikes[key, default: 0] + 1
        guard count < 10, strikes.count < 64 || count > 1 else {
            strikes[key] = nil
            return false
        }
        strikes[key] = count
        return true
    }

    func isStruck(_ key: Int64) -> Bool { strikes[key] != nil }

    /// Memory has let a message go.
    /// - Parameter isDisplaced: it was not delivered, and is to be offered again.
    mutating func settled(_ key: Int64, isDisplaced: Bool) {
        if let size = inMemory.removeValue(forKey: key) { bytes -= size }
        guard isDisplaced else { return }
        // Which line it belongs to the disk knows: both look again.
        essentialCursor = min(essentialCursor, key - 1)
        restCursor = min(restCursor, key - 1)
    }
}
