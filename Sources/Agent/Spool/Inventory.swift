import Messages

/// Facts about the spool's content that need no look into the file: they change with each write, and go back with it.
struct Inventory {
    var statistics = SpoolStatistics()
    /// Numbers below this may have been used, without their class.
    var reserved: Int64 = 1
    var ring = RingIndex()
    var ages = MessageAges()
    /// The ten minutes that have not been written down.
    var levels: StepLevels?
    var vibration = VibrationBook()

    init() {}

    /// Reads every table once.
    init(_ database: Database) throws(SpoolError) {
        reserved = try database.numbers(.reserved).first ?? 1
        for table in Table.allCases {
            let sums = try database.use(.sums, table)
            guard try sums.step() else { continue }
            statistics.messages[table.priority] = sums.int(0)
            statistics.bytes[table.priority] = sums.int(1)
            statistics.keptMessages += sums.int(2)
            statistics.keptBytes += sums.int(3)
            reserved = max(reserved, (sums.int64(4) >> 2) &+ 1)
        }
        count(dropped: try database.numbers(.dropped), damaged: try database.numbers(.damaged))
        statistics.damagedPages = Int(try database.numbers(.pages).first ?? 0)
        let deleted = try database.numbers(.deleted)
        if deleted.count == 2 {
            statistics.deletedForAge = Int(clamping: deleted[0])
            statistics.deletedForRoom = Int(clamping: deleted[1])
        }
        ages = MessageAges(try database.numbers(.ages))
        let rows = try database.number("SELECT count(*) FROM vibration INDEXED BY added")
        vibration = VibrationBook(rows: rows.map { Int($0) } ?? 0)
        // Where the ages are lost those of vibration go on from the newest that is as it was written.
        if let newest = try Self.newestVibration(database) { ages.goOn(from: newest &* 1_000_000_000) }
        var pieces: [RingSegment] = []
        let segments = try database.use(.segments)
        while try segments.step() {
            pieces.append(
                RingSegment(
                    slot: segments.int64(0), number: segments.int64(1), start: segments.int64(2),
                    end: segments.int64(3), samples: segments.int(4), rate: segments.double(5),
                    format: segments.int(6), bytes: segments.int(7),
                    unit: segments.isNull(8) ? nil : segments.double(8)))
        }
        for piece in pieces.sorted(by: { $0.number < $1.number }) { ring.append(piece) }
    }

    /// When it was added (seconds that the agent had run).
    private static func newestVibration(_ database: Database) throws(SpoolError) -> Int64? {
        let row = try database.use(.newestVibration)
        guard try row.step() else { return nil }
        return VibrationBlock.read(row)?.added ?? StoredModes.read(row)?.added
    }

    /// Adds what a file says of earlier times.
    mutating func count(dropped: [Int64], damaged: [Int64]) {
        if dropped.count == 3 {
            for priority in Priority.allCases {
                statistics.dropped[priority] &+= Int(dropped[priority.rawValue])
                statistics.droppedBefore[priority] &+= Int(dropped[priority.rawValue])
            }
        }
        statistics.damaged &+= Int(damaged.first ?? 0)
        guard damaged.count == 3 else { return }
        statistics.damagedOthers &+= Int(damaged[1])
        statistics.unknownLosses &+= Int(damaged[2])
    }

    /// As the file has it.
    var damaged: [Int64] {
        [Int64(statistics.damaged), Int64(statistics.damagedOthers), Int64(statistics.unknownLosses)]
    }

    var dropped: [Int64] { Priority.allCases.map { Int64(statistics.dropped[$0]) } }

    mutating func add(_ table: Table, _ size: Int) {
        statistics.messages[table.priority] += 1
        statistics.bytes[table.priority] += size
    }

    mutating func remove(_ table: Table, _ size: Int) {
        statistics.messages[table.priority] -= 1
        statistics.bytes[table.priority] -= size
    }

    mutating func keep(_ size: Int) {
        statistics.keptMessages += 1
        statistics.keptBytes += size
    }

    mutating func forget(_ size: Int) {
        statistics.keptMessages -= 1
        statistics.keptBytes -= size
    }
}
