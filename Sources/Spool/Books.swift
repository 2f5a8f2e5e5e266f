import Messages

/// What the spool knows about its content without asking the file: it changes with each write, and goes back with it.
struct Books {
    var statistics = SpoolStatistics()
    /// Numbers below this may have been used, without their class.
    var reserved: Int64 = 1
    var ring = RingIndex()

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
        let dropped = try database.numbers(.dropped)
        if dropped.count == 3 {
            for priority in Priority.allCases {
                statistics.dropped[priority] = Int(dropped[priority.rawValue])
            }
        }
        statistics.damaged = Int(try database.numbers(.damaged).first ?? 0)
        let segments = try database.use(.segments)
        while try segments.step() {
            ring.append(
                .init(
                    key: segments.int64(0), start: segments.int64(1), end: segments.int64(2),
                    samples: segments.int(3), rate: segments.double(4), format: segments.int(5),
                    bytes: segments.int(6)))
        }
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
