/// What the spool notes for itself, in the table of facts.
enum OwnFact: String {
    /// The machine's start during which the file was last opened.
    case boot = "spool.boot"
    /// Messages have smaller numbers than this.
    case reserved = "spool.reserved"
    /// Dropped messages by class.
    case dropped = "spool.dropped"
    /// Rows that were lost by damage: messages, others, and how often nobody knows.
    case damaged = "spool.damaged"
    /// How old messages are; see ``MessageAges``.
    case ages = "spool.ages"
    /// Messages of delivered events that were deleted, for their age and for want of room.
    case deleted = "spool.deleted"
    /// Damaged pages of the log.
    case pages = "spool.pages"
}

extension Database {
    func fact(_ name: OwnFact) throws(SpoolError) -> [UInt8]? { try fact(name.rawValue) }
    func set(_ name: OwnFact, _ value: [UInt8]) throws(SpoolError) { try set(name.rawValue, value) }

    /// Whole numbers, separated by blanks.
    func numbers(_ name: OwnFact) throws(SpoolError) -> [Int64] {
        let text = String(decoding: try fact(name) ?? [], as: UTF8.self)
        return text.split(separator: " ").compactMap { Int64($0) }
    }

    func set(_ name: OwnFact, numbers: [Int64]) throws(SpoolError) {
        try set(name, Array(numbers.map { String($0) }.joined(separator: " ").utf8))
    }

    func fact(_ name: String) throws(SpoolError) -> [UInt8]? {
        let statement = try use(.getFact)
        statement.bind(1, name)
        guard try statement.step() else { return nil }
        // Not what was written: as if it were not there.
        return statement.int64(1) == StoredMessage.checksum(name, statement.blob(0)) ? statement.bytes(0) : nil
    }

    func set(_ name: String, _ value: [UInt8]?) throws(SpoolError) {
        let statement = try use(value == nil ? .deleteFact : .setFact)
        statement.bind(1, name)
        guard let value else { return try statement.run() }
        let result: Result<Void, SpoolError> = value.withUnsafeBytes { bytes in
            statement.bind(2, bytes)
            statement.bind(3, StoredMessage.checksum(name, bytes))
            do throws(SpoolError) { return .success(try statement.run()) } catch { return .failure(error) }
        }
        try result.get()
    }
}
