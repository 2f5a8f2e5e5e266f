import CSQLite
import Messages

/// What goes when there is no room: delivered events, the oldest first; then the oldest traces; then the oldest summaries;
/// and of what is essential, when nothing else is left, the oldest waveforms, then messages of no event, then those of
/// events. A message never pushes out what is more important than itself; the ring has its own part.
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
            let hasRoom = try makeRoom(0, for: .essential)
            return isYoung && hasRoom
        } catch { throw undo(error) }
    }

    /// Bytes that find room while nothing has to go that waits for the broker.
    public mutating func room() throws(SpoolError) -> Int {
        do throws(SpoolError) {
            let free = (options.pages - (try database.usedPages())) * Database.pageBytes
            return max(0, free + books.statistics.keptBytes)
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

    /// Deletes until so many bytes more of a class find room.
    /// - Returns: whether they do.
    mutating func makeRoom(_ bytes: Int, for priority: Priority) throws(SpoolError) -> Bool {
        let dropped = books.statistics.dropped
        // (Some pages more for what lies above a row.)
        let pages = bytes > 0 ? bytes / Database.pageBytes + 8 : 0
        var hasRoom = false
        for _ in 0..<64 {
            let excess = try database.usedPages() + pages - options.pages
            hasRoom = excess <= 0
            guard !hasRoom, try deleteSome(excess * Database.pageBytes, for: priority) else { break }
        }
        if dropped != books.statistics.dropped { try database.set(.dropped, numbers: books.dropped) }
        return hasRoom
    }

    /// Deletes about so many bytes of the least important there is, at most 64 messages.
    /// - Returns: false when nothing is left that may go.
    private mutating func deleteSome(_ bytes: Int, for priority: Priority) throws(SpoolError) -> Bool {
        if books.statistics.keptMessages > 0 {
            var left = bytes
            for row in try candidates(.oldestKept, .essential, count: 64) where left > 0 {
                try delete(row.key, .essential)
                books.forget(row.size)
                left -= row.size
            }
            return true
        }
        for table in [Table.trace, .state, .essential] where table.rawValue >= priority.rawValue {
            guard books.statistics.messages[table.priority] > 0 else { continue }
            let queries = table == .essential ? [Query.oldestWaveforms, .oldestOthers, .oldest] : [.oldest]
            for query in queries {
                let rows = try candidates(query, table, count: 64)
                guard !rows.isEmpty else { continue }
                try drop(rows, table, bytes)
                return true
            }
        }
        return false
    }

    private mutating func drop(_ rows: [Candidate], _ table: Table, _ bytes: Int) throws(SpoolError) {
        var left = bytes
        for row in rows where left > 0 {
            try delete(row.key, table)
            books.remove(table, row.size)
            books.statistics.dropped[table.priority] += 1
            left -= row.size
        }
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
