import CSQLite
import Messages

/// What goes when there is no room: delivered events, the oldest first; then the oldest traces; then the oldest summaries;
/// and of what is essential, when nothing else is left, the oldest waveforms, then messages of no event, then those of
/// events. A message never pushes out what is more important than itself; the ring has its own part.
extension Spool {
    /// Deletes what is too old or too much. To be called now and then; a call takes some milliseconds.
    /// - Parameter now: of a clock that never jumps (ns): what is too old is not told by that of the day.
    /// - Returns: false when there is more to do.
    @discardableResult
    public mutating func trim(now: Int64) throws(SpoolError) -> Bool {
        do throws(SpoolError) {
            try begin()
            try trimRing()
            if books.ages.look(now: now, next: next, keep: options.keepEvents) {
                try database.set(.ages, numbers: books.ages.numbers)
            }
            let isYoung = try forgetOldEvents()
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

    /// How old a message is at least (ns).
    public func age(of key: Int64) -> Int64 { books.ages.age(of: key >> 2) }

    private mutating func forgetOldEvents() throws(SpoolError) -> Bool {
        guard books.statistics.keptMessages > 0, let limit = books.ages.limit(age: options.keepEvents) else {
            return true
        }
        let rows = try candidates(.oldestKept, .essential, count: 64)
        let old = rows.prefix { $0.key >> 2 < limit }
        for row in old { try forget(row) }
        books.statistics.deletedForAge += old.count
        if !old.isEmpty { try noteDeleted() }
        return old.count < 64
    }

    private mutating func forget(_ row: Candidate) throws(SpoolError) {
        try delete(row.key, .essential)
        books.forget(row.size)
    }

    private func noteDeleted() throws(SpoolError) {
        let statistics = books.statistics
        try database.set(.deleted, numbers: [Int64(statistics.deletedForAge), Int64(statistics.deletedForRoom)])
    }

    /// Deletes until so many bytes more of a class find room.
    /// - Returns: whether they do.
    mutating func makeRoom(_ bytes: Int, for priority: Priority) throws(SpoolError) -> Bool {
        let (dropped, deleted) = (books.statistics.dropped, books.statistics.deletedForRoom)
        // (Some pages more for what lies above a row.)
        let pages = bytes > 0 ? bytes / Database.pageBytes + 8 : 0
        var hasRoom = false
        for _ in 0..<64 {
            let excess = try database.usedPages() + pages - options.pages
            hasRoom = excess <= 0
            guard !hasRoom, try deleteSome(excess * Database.pageBytes, for: priority) else { break }
        }
        if deleted != books.statistics.deletedForRoom { try noteDeleted() }
        if dropped != books.statistics.dropped { try database.set(.dropped, numbers: books.dropped) }
        return hasRoom
    }

    /// Deletes about so many bytes of the least important there is, at most 64 messages.
    /// - Returns: false when nothing is left that may go.
    private mutating func deleteSome(_ bytes: Int, for priority: Priority) throws(SpoolError) -> Bool {
        if books.statistics.keptMessages > 0 {
            var left = bytes
            for row in try candidates(.oldestKept, .essential, count: 64) where left > 0 {
                try forget(row)
                books.statistics.deletedForRoom += 1
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
    }

    private func candidates(_ query: Query, _ table: Table, count: Int) throws(SpoolError) -> [Candidate] {
        var found: [Candidate] = []
        let row = try database.use(query, table)
        row.bind(1, count)
        while try row.step() { found.append(Candidate(key: row.int64(0), size: row.int(1))) }
        return found
    }
}
