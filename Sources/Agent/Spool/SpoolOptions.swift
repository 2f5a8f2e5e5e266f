import CSQLite
import Glibc
import Messages

/// Where the spool is and how much it may hold.
public struct SpoolOptions: Sendable, Equatable {
    /// Folder; made when it is not there, its parent has to be.
    public var directory: String
    /// Bytes of the file and its log together, at least `leastBudget`.
    public var budgetBytes: Int
    /// Seconds of waveform that the ring keeps; 0: no ring.
    public var ringSeconds: Double
    /// Seconds that events are kept, once the broker has them; only the time counts in which the spool was open.
    public var keepEventsSeconds: Double

    /// Seconds that intervals of vibration are kept; only the time counts in which the spool was open.
    public var keepVibrationSeconds: Double

    /// Smaller budgets count as this.
    static let leastBudget = 8_000_000

    public init(
        directory: String, budgetBytes: Int = 512_000_000, ringSeconds: Double = 3600,
        keepEventsSeconds: Double = 30 * 86_400, keepVibrationSeconds: Double = 400 * 86_400
    ) {
        self.directory = directory
        self.budgetBytes = budgetBytes
        self.ringSeconds = ringSeconds
        self.keepEventsSeconds = keepEventsSeconds
        self.keepVibrationSeconds = keepVibrationSeconds
    }

    /// Pages that the file may use: the budget without the log, which may be `Database.guardPages` long.
    var pages: Int { max(budgetBytes, Self.leastBudget) / Database.pageBytes - Database.guardPages }
    /// The ring is never larger than this, in bytes.
    var ringBytes: Int { pages * Database.pageBytes / 4 }
    /// Intervals of vibration are never more than this, in bytes.
    var vibrationBytes: Int { pages * Database.pageBytes / 4 }
    /// Nanoseconds, at most 292 years.
    var keepEvents: Int64 { Int64(max(0, min(keepEventsSeconds, 9e9)) * 1e9) }
}

/// Failure of the spool: the file, SQLite's code (or that of the system, where `isSystem`) and its words.
public struct SpoolError: Error, Sendable, Equatable, CustomStringConvertible {
    public var file: String
    /// SQLite's extended result code; an errno where `isSystem`.
    public var code: Int32
    public var text: String
    var isSystem = false
    /// The files were deleted, replaced or cut short while they were open: `Spool.recover` begins anew.
    public internal(set) var isGone = false

    init(file: String, code: Int32, text: String) {
        self.file = file
        self.code = code
        self.text = text
    }

    /// A call of the system failed.
    init(file: String, errno code: Int32) {
        self.init(file: file, code: code, text: String(cString: strerror(code)))
        isSystem = true
    }

    static func gone(_ file: String, _ text: String) -> SpoolError {
        var error = SpoolError(file: file, errno: ESTALE)
        (error.text, error.isGone) = (text, true)
        return error
    }

    /// The content is damaged, or cannot be read: `Spool.recover` sets the file aside and begins anew.
    public var isDamage: Bool {
        guard !isSystem else { return false }
        let primary = code & 0xFF
        return [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT].contains(primary)
            // Our statements are always the same: they fail by what they find.
            || [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(primary)
            // A read that failed, or was short.
            || code == SQLITE_IOERR | (1 << 8) || code == SQLITE_IOERR | (2 << 8)
    }

    /// There is no room: the disk, or a limit on the file.
    public var isFull: Bool {
        isSystem ? code == ENOSPC || code == EDQUOT || code == EFBIG : code & 0xFF == SQLITE_FULL
    }

    public var description: String { "\(file): \(text) (\(isSystem ? "errno" : "SQLite") \(code))" }
}

/// Contents of the spool, and what had to go.
public struct SpoolStatistics: Sendable, Equatable {
    /// Messages that wait for the broker, and their bytes (payload, topic and 64 for the rest).
    public internal(set) var messages = ClassCounts()
    public internal(set) var bytes = ClassCounts()
    /// When the oldest of them was made, nanoseconds of UTC; nil: none waits.
    public internal(set) var oldestMade: Int64?
    /// Messages dropped for want of room before the broker had them, since the file was begun: restarts do not reset it.
    public internal(set) var dropped = ClassCounts()
    /// Messages among these that the file had from before it was opened.
    public internal(set) var droppedBefore = ClassCounts()
    /// Messages of events that the broker has, or has refused, deleted because they were older than events are kept, and for
    /// want of room, since the file was begun.
    public internal(set) var deletedForAge = 0
    public internal(set) var deletedForRoom = 0
    /// Messages that could not be read back and were dropped, since the file was begun.
    public internal(set) var damaged = 0
    /// Pieces of the ring, ten minutes of levels or of vibration, and facts that could not be read back, since the file was begun.
    public internal(set) var damagedOthers = 0
    /// How often damage was found of which nobody knows what was lost by it, since the file was begun.
    public internal(set) var unknownLosses = 0
    /// How often an index did not agree with its table and was made again, since the start.
    public internal(set) var rebuiltIndices = 0
    /// Pages of the log that were found damaged at a start, since the file was begun.
    public internal(set) var damagedPages = 0
    /// Messages of events that the broker has, or has refused, and that are still here.
    var keptMessages = 0
    var keptBytes = 0
    /// Pieces of waveform in the ring, their bytes and the seconds they last.
    var ringSegments = 0
    public internal(set) var ringBytes = 0
    public internal(set) var ringSeconds = 0.0
    /// Bytes of the file, and of its log that have yet to be written back.
    public internal(set) var fileBytes = 0
    public internal(set) var logBytes = 0
    /// Bytes written to the log and from there to the file since it was opened.
    public internal(set) var bytesWritten = 0

    public init() {}
}

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
