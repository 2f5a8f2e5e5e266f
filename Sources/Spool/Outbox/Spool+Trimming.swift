import CSQLite
import Messages

/// What goes when there is no room: delivered events, the oldest first; then the oldest traces; then the oldest summaries;
/// and of what is essential, only as far as it is more than half of the budget, the oldest waveforms, then messages of no
/// event, then those of events.
extension Spool {
    /// Deletes what is too old or too much. To be called now and then; a call takes some milliseconds.
    /// - Parameter now: nanoseconds of UTC.
    /// - Returns: false when there is more to do.
    @discardableResult
    public mutating func trim(now: Int64) throws(SpoolError) -> Bool {
        do throws(SpoolError) {
            try begin()
            try trimRing()
            let isYoung = try forgetOldEvents(now: now)
            let hasRoom = try makeRoom(for: 0)
            return isYoung && hasRoom
        } catch { throw undo(error) }
    }

    private mutating func forgetOldEvents(now: Int64) throws(SpoolError) -> Bool {
        let (limit, overflow) = now.subtractingReportingOverflow(options.keepEvents)
        guard !overflow, books.statistics.keptMessages > 0 else { return true }
        let rows = try candidates(.oldestKept, .essential, count: 64)
        for row in rows {
            guard row.made < limit else { return true }
            try delete(row.key, .essential)
            books.forget(row.size)
        }
        return rows.count < 64
    }

    /// Deletes until so many bytes more find room.
    /// - Returns: false when there is more to do.
    @discardableResult
    mutating func makeRoom(for bytes: Int) throws(SpoolError) -> Bool {
        let dropped = books.statistics.dropped
        let isDone = try deleteUntilThereIsRoom(bytes / Database.pageBytes + (bytes > 0 ? 8 : 0))
        if dropped != books.statistics.dropped { try database.set(.dropped, numbers: books.dropped) }
        return isDone
    }

    private mutating func deleteUntilThereIsRoom(_ pages: Int) throws(SpoolError) -> Bool {
        for _ in 0..<64 {
            let excess = try database.usedPages() + pages - options.pages
            guard excess > 0 else { return true }
            guard try deleteSome(excess * Database.pageBytes) else { return true }
        }
        return false
    }

    /// Deletes about so many bytes of the least important there is, at most 64 messages.
    /// - Returns: false when nothing is left that may go.
    private mutating func deleteSome(_ bytes: Int) throws(SpoolError) -> Bool {
        if books.statistics.keptMessages > 0 {
            var left = bytes
            for row in try candidates(.oldestKept, .essential, count: 64) where left > 0 {
                try delete(row.key, .essential)
                books.forget(row.size)
                left -= row.size
            }
            return true
        }
        for table in [Table.trace, .state] where books.statistics.messages[table.priority] > 0 {
            return try drop(candidates(.oldest, table, count: 64), table, bytes)
        }
        let excess = books.statistics.bytes.essential - options.essentialReserve
        guard excess > 0 else { return false }
        for query in [Query.oldestWaveforms, .oldestOthers, .oldest] {
            let rows = try candidates(query, .essential, count: 64)
            if !rows.isEmpty { return try drop(rows, .essential, min(bytes, excess)) }
        }
        return false
    }

    private mutating func drop(_ rows: [Candidate], _ table: Table, _ bytes: Int) throws(SpoolError) -> Bool {
        var left = bytes
        for row in rows where left > 0 {
            try delete(row.key, table)
            books.remove(table, row.size)
            books.statistics.dropped[table.priority] += 1
            left -= row.size
        }
        return true
    }

    private struct Candidate {
        var key: Int64
        var size: Int
        var made: Int64
    }

    private func candidates(_ query: Query, _ table: Table, count: Int) throws(SpoolError) -> [Candidate] {
        var found: [Candidate] = []
        let row = try database.use(query, table)
        row.bind(1, count)
        while try row.step() { found.append(Candidate(key: row.int64(0), size: row.int(1), made: row.int64(2))) }
        return found
    }
}
