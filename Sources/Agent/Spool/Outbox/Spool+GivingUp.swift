import Messages

extension Spool {
    /// A message that the broker has refused for so long that it is not tried any more: it counts as dropped.
    public mutating func giveUp(_ key: Int64) throws(SpoolError) {
        guard let table = Table(rawValue: Int(key & 3)), try settle(key, .refused(reason: 128)) else { return }
        do throws(SpoolError) {
            books.statistics.dropped[table.priority] += 1
            try database.set(.dropped, numbers: books.dropped)
        } catch { throw undo(error) }
        try commit()
    }
}
