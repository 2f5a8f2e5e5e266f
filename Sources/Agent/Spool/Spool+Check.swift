import Messages

/// Finds what is not as it was written before it is needed: what is kept for weeks is read once, or never.
extension Spool {
    /// Bytes of the file up to which all of it is read each hour; and of rows at the start.
    private static let hourlyPages = 4096
    private static let startBytes = 64 << 20

    /// To be called once an hour: reads the file, of large ones the index of what waits. Rows that are not as they were
    /// written are dropped and counted; an index that does not agree with its table is made again. ``takeFinding()`` tells.
    /// - Throws: an error that `isDamage` calls for `recover`.
    public mutating func check() throws(SpoolError) {
        try commit()
        do throws(SpoolError) {
            let pages = try database.filePages()
            if pages <= Self.hourlyPages {
                try database.check(upTo: Self.hourlyPages)
                try checkRows(bytes: .max)
            } else {
                try database.checkWaiting()
            }
        } catch { throw undo(error) }
        try commit()
    }

    /// The same at the start, of rows that are not read anyway before they are sent.
    mutating func checkAtStart() throws(SpoolError) {
        do throws(SpoolError) { try checkRows(bytes: Self.startBytes) } catch { throw undo(error) }
        try commit()
        guard let finding = takeFinding() else { return }
        if setAsideFile == nil {
            setAsideFile = SetAsideFile(path: database.path, reason: finding, kind: .rows)
        } else {
            setAsideFile?.reason += "; \(finding)"
        }
    }

    /// What was found to be damaged since this was asked last and is no file that was set aside, in words; nil: all is well.
    public mutating func takeFinding() -> String? {
        let (rows, others) = (books.statistics.damaged - found.rows, books.statistics.damagedOthers - found.others)
        found = (books.statistics.damaged, books.statistics.damagedOthers)
        var words: [String] = []
        if !database.rebuilt.isEmpty {
            books.statistics.rebuiltIndices += database.rebuilt.count
            words.append("rebuilt from its table: index " + database.rebuilt.joined(separator: ", "))
            database.rebuilt = []
        }
        if rows > 0 { words.append("messages that were not as written, and are lost: \(rows)") }
        if others > 0 { words.append("pieces of waveform, levels or facts that were not as written: \(others)") }
        return words.isEmpty ? nil : words.joined(separator: "; ")
    }

    /// - Parameter bytes: of rows that are read, about.
    private mutating func checkRows(bytes: Int) throws(SpoolError) {
        try begin()
        var left = bytes
        for table in Table.allCases where left > 0 { try checkMessages(table, &left) }
        try checkFacts()
        try checkLevels()
        for segment in books.ring.entries where left > 0 {
            left -= segment.bytes
            if try records(of: segment) != nil { continue }
            let statement = try database.use(.deleteSegment)
            statement.bind(1, segment.slot)
            try statement.run()
            books.ring.remove(slot: segment.slot)
            try countDamaged(1)
        }
    }

    private mutating func checkMessages(_ table: Table, _ left: inout Int) throws(SpoolError) {
        var damaged: [Int64] = []
        var others: [(key: Int64, state: Int)] = []
        do {
            let row = try database.use(.messages, table)
            while left > 0, try row.step() {
                left -= row.blob(11).count + 100
                guard let (message, state) = StoredMessage.read(row), message.key & 3 == table.rawValue else {
                    damaged.append(row.int64(0))
                    continue
                }
                if state != row.int(12) { others.append((message.key, state)) }
            }
        }
        for key in damaged where try !dropDamaged(key, table) {
            throw database.damage("a row cannot be found by its key")
        }
        for (key, state) in others where table == .essential {
            guard let row = try look(key, table) else { throw database.damage("a row cannot be found by its key") }
            let statement = try database.use(.setState)
            statement.bind(1, key)
            statement.bind(2, state)
            try statement.run()
            if row.waits { books.remove(table, row.size) } else { books.forget(row.size) }
            if state == 0 { books.add(table, row.size) } else { books.keep(row.size) }
        }
    }

    private mutating func checkFacts() throws(SpoolError) {
        var damaged: [[UInt8]] = []
        do {
            let row = try database.use(.allFacts)
            while try row.step() {
                if row.int64(2) != StoredMessage.checksum(row.text(0), row.blob(1)) { damaged.append(row.bytes(0)) }
            }
        }
        for name in damaged {
            let result = name.withUnsafeBytes { bytes -> Result<Void, SpoolError> in
                do throws(SpoolError) {
                    let statement = try database.use(.deleteFactBytes)
                    statement.bind(1, bytes)
                    return .success(try statement.run())
                } catch { return .failure(error) }
            }
            try result.get()
        }
        try countDamaged(damaged.count)
    }

    private mutating func checkLevels() throws(SpoolError) {
        var damaged: [Int64] = []
        var misplaced: [StepLevels] = []
        do {
            let row = try database.use(.allLevels)
            while try row.step() {
                guard row.int64(2) == Self.sum(row.int64(1), row.blob(3)),
                    let levels = StepLevels(block: row.int64(1), row.blob(3))
                else {
                    damaged.append(row.int64(0))
                    continue
                }
                if !places(of: levels.block).contains(row.int64(0)) { misplaced.append(levels) }
            }
        }
        for slot in damaged {
            let statement = try database.use(.deleteLevels)
            statement.bind(1, slot)
            try statement.run()
        }
        // (A damaged number of its place, or another budget.)
        for levels in misplaced where try row(levels.block) == nil { try store(levels) }
        try countDamaged(damaged.count)
    }

    mutating func countDamaged(_ others: Int) throws(SpoolError) {
        guard others > 0 else { return }
        books.statistics.damagedOthers += others
        try database.set(.damaged, numbers: books.damaged)
    }
}
