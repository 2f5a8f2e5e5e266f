import CSQLite
import Messages

extension Spool {
    /// Keeps a message until the broker has it. Makes room for it if need be.
    /// - Parameter made: nanoseconds of UTC.
    /// - Returns: its number, above 0; 0 when all room is taken by what is more important: it is counted as dropped.
    public mutating func put(
        _ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, made: Int64
    ) throws(SpoolError) -> Int64 {
        let size = StoredMessage.size(header, payload.count)
        guard size <= options.pages * Database.pageBytes / 16 else {
            throw undo(
                SpoolError(file: database.path, code: SQLITE_TOOBIG, text: "a message of \(payload.count) bytes"))
        }
        do throws(SpoolError) {
            try begin()
            // (What is essential is tried in any case.)
            guard try makeRoom(size, for: header.priority) || header.priority == .essential else {
                books.statistics.dropped[header.priority] += 1
                try database.set(.dropped, numbers: books.dropped)
                return 0
            }
            let key = try takeNumber() << 2 | Int64(Table(header.priority).rawValue)
            try insert(key, header, payload, made: made)
            return key
        } catch { throw undo(error) }
    }

    mutating func insert(
        _ key: Int64, _ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, made: Int64
    ) throws(SpoolError) {
        let statement = try database.use(.insert, Table(header.priority))
        statement.bind(1, key)
        statement.bind(2, made)
        statement.bind(3, header.topic)
        statement.bind(4, header.qos)
        statement.bind(5, header.retain ? 1 : 0)
        statement.bind(6, header.isHistory ? 1 : 0)
        statement.bind(7, StoredContent.text(header))
        if let expiry = header.expiry { statement.bind(8, Int64(expiry)) }
        if let event = header.event {
            statement.bind(9, event.id)
            statement.bind(10, event.part.rawValue)
        }
        statement.bind(11, StoredMessage.checksum(key, header, payload, made: made))
        statement.bind(12, payload)
        try statement.run()
        books.add(Table(header.priority), StoredMessage.size(header, payload.count))
    }

    /// The number of a message is taken from a range that was noted before: so it is never given again, at the price of
    /// one more write every 4096 messages.
    mutating func takeNumber() throws(SpoolError) -> Int64 {
        if next >= books.reserved {
            books.reserved = next + 4096
            try database.set(.reserved, numbers: [books.reserved])
        }
        next += 1
        return next - 1
    }

    /// Messages that wait, in the order in which they were put.
    /// - Parameters:
    ///   - key: only those after this number; 0: from the first.
    ///   - messages: at most so many.
    ///   - bytes: at most so many of payload, but at least one message.
    public mutating func next(
        _ line: SpoolLine, after key: Int64 = 0, messages: Int = .max, bytes: Int = .max
    ) throws(SpoolError) -> [StoredMessage] {
        var found: [StoredMessage] = []
        var damaged: [Int64] = []
        do throws(SpoolError) {
            var total = 0
            let row = try database.use(line == .essential ? .next : .nextOfTheRest)
            row.bind(1, key)
            row.bind(2, Int64(clamping: messages))
            while try row.step() {
                guard let message = StoredMessage(row) else {
                    damaged.append(row.int64(0))
                    continue
                }
                total += message.payload.count
                if total > bytes, !found.isEmpty { break }
                found.append(message)
            }
        } catch { throw undo(error) }
        for key in damaged { try dropDamaged(key) }
        return found
    }

    /// The broker has a message, or never will: messages of events are kept, others are deleted.
    /// - Returns: false when it was not there any more.
    @discardableResult
    public mutating func settle(_ key: Int64, _ outcome: MessageFate) throws(SpoolError) -> Bool {
        guard let table = Table(rawValue: Int(key & 3)) else { return false }
        do throws(SpoolError) {
            try begin()
            guard let row = try look(key, table), row.waits else { return false }
            books.remove(table, row.size)
            guard row.isOfEvent else {
                try delete(key, table)
                return true
            }
            try keep(key, state: outcome == .delivered ? 1 : 2)
            books.keep(row.size)
            return true
        } catch { throw undo(error) }
    }

    func keep(_ key: Int64, state: Int) throws(SpoolError) {
        let statement = try database.use(.deliver)
        statement.bind(1, key)
        statement.bind(2, state)
        statement.bind(3, StoredMessage.mark(state: state))
        try statement.run()
    }

    func look(
        _ key: Int64, _ table: Table
    ) throws(SpoolError) -> (size: Int, waits: Bool, isOfEvent: Bool)? {
        let row = try database.use(.look, table)
        row.bind(1, key)
        guard try row.step() else { return nil }
        return (row.int(0), row.int(1) == 0, row.int(2) != 0 && table == .essential)
    }

    func delete(_ key: Int64, _ table: Table) throws(SpoolError) {
        let statement = try database.use(.delete, table)
        statement.bind(1, key)
        try statement.run()
    }

    /// Deletes a message, whatever became of it.
    /// - Returns: false when it was not there any more.
    @discardableResult
    mutating func drop(_ key: Int64, _ table: Table? = nil) throws(SpoolError) -> Bool {
        guard let table = table ?? Table(rawValue: Int(key & 3)), let row = try look(key, table) else { return false }
        try delete(key, table)
        if row.waits { books.remove(table, row.size) } else { books.forget(row.size) }
        return true
    }

    /// A row that is not what was written.
    /// - Parameter table: that has it; nil: by its number.
    /// - Returns: false when it cannot be found.
    @discardableResult
    mutating func dropDamaged(_ key: Int64, _ table: Table? = nil) throws(SpoolError) -> Bool {
        do throws(SpoolError) {
            try begin()
            guard try drop(key, table) else { return false }
            books.statistics.damaged += 1
            try database.set(.damaged, numbers: books.damaged)
            return true
        } catch { throw undo(error) }
    }

    mutating func oldestMade() -> Int64? {
        var oldest: Int64?
        for table in Table.allCases where books.statistics.messages[table.priority] > 0 {
            guard let row = try? database.use(.oldest, table) else { continue }
            row.bind(1, 1)
            if (try? row.step()) == true { oldest = min(oldest ?? .max, row.int64(2)) }
        }
        return oldest
    }
}
