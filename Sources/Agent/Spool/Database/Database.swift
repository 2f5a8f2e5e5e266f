import CSQLite
import Glibc
import MiniSEED
import Values

/// One open SQLite file with its prepared statements, set up for little memory and few writes. For one thread.
final class Database {
    static let pageBytes = 4096
    /// A log of this many pages is written back by the next commit whatever happens (4 MB).
    static let guardPages = 1000

    let path: String
    private var handle: OpaquePointer?
    private var statements = [OpaquePointer?](repeating: nil, count: Query.count)
    /// Which files these are.
    private var place: FilePlace?
    /// Pages in the log that count, after the last commit.
    private(set) var logPages = 0
    /// Pages that have ever been written to the log, and from there to the file, since it was opened.
    private(set) var pagesLogged = 0
    private(set) var pagesWrittenBack = 0
    /// Indices that did not agree with their tables and were made again.
    var rebuilt: [String] = []

    init(_ path: String) { self.path = path }

    /// Opens the file, or makes it. SQLite reads it here for the first time: damage of the first page shows.
    func connect() throws(SpoolError) {
        close()
        (logPages, pagesLogged, pagesWrittenBack) = (0, 0, 0)
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // SQLite makes a file that all may read, and leaves the rest to the umask. What it makes beside the file has the
        // rights of the file.
        let made = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if made >= 0 { Glibc.close(made) }
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK else { throw failure() }
        sqlite3_busy_timeout(handle, 1000)
        // Alone, and from the first access on: SQLite has the index of its log in its own memory then, and not in a file
        // whose truncation would be a signal. Debian's SQLite overwrites what is deleted with zeros unless told not to,
        // which doubles what is written.
        for line in [
            "locking_mode=EXCLUSIVE", "page_size=4096", "journal_mode=WAL", "synchronous=NORMAL", "secure_delete=OFF",
            "cache_size=-128",
            "mmap_size=0", "temp_store=MEMORY", "journal_size_limit=1048576", "trusted_schema=OFF",
            "cell_size_check=ON",
            // The log is opened with the first reading.
            "user_version",
        ] { try execute("PRAGMA \(line)") }
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().logGrew(to: Int(pages))
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
        place = FilePlace(path)
    }

    deinit { close() }

    /// Writes the log back if it can. Whatever is asked of it later fails.
    /// - Parameter asItIs: leaves file and log alone, whatever they are by now.
    func close(asItIs: Bool = false) {
        for index in statements.indices {
            sqlite3_finalize(statements[index])
            statements[index] = nil
        }
        if handle != nil, asItIs || loss() != nil { _ = csqlite_close_as_it_is(handle) }
        sqlite3_close_v2(handle)
        handle = nil
        place?.close()
        place = nil
    }

    /// The error of the last call, in words that name the file.
    func failure() -> SpoolError {
        guard let handle else { return SpoolError(file: path, code: SQLITE_MISUSE, text: "is not open") }
        var text = String(cString: sqlite3_errmsg(handle))
        let code = sqlite3_extended_errcode(handle)
        let cause = sqlite3_system_errno(handle)
        let primary = code & 0xFF
        if cause != 0, primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL {
            text += ": \(String(cString: strerror(cause)))"
        }
        // A disk that is full while SQLite extends its log is an I/O error to it.
        if primary == SQLITE_IOERR, cause == ENOSPC || cause == EDQUOT || cause == EFBIG {
            return SpoolError(file: path, code: SQLITE_FULL, text: text)
        }
        return SpoolError(file: path, code: code, text: text)
    }

    // MARK: Statements

    /// One or more statements without parameters and rows.
    func execute(_ sql: String) throws(SpoolError) {
        guard handle != nil, sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// A statement that is prepared once.
    func use(_ query: Query, _ table: Table = .essential) throws(SpoolError) -> Statement {
        let index = query.rawValue * Table.allCases.count + table.rawValue
        if let statement = statements[index] { return Statement(statement, self) }
        let statement = try prepare(query.sql(table))
        statements[index] = statement
        return Statement(statement, self)
    }

    /// A number, the first column of the first row; for what is rarely asked.
    func number(_ sql: String) throws(SpoolError) -> Int64? {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement) }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return sqlite3_column_int64(statement, 0)
        case SQLITE_DONE: return nil
        default: throw failure()
        }
    }

    /// The first column of all rows.
    func texts(_ sql: String) throws(SpoolError) -> [String] {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement) }
        var texts: [String] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                texts.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
            case SQLITE_DONE: return texts
            default: throw failure()
            }
        }
    }

    private func prepare(_ sql: String) throws(SpoolError) -> OpaquePointer {
        guard handle != nil else { throw failure() }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure() }
        return statement
    }

    // MARK: Transactions

    var inTransaction: Bool { handle != nil && sqlite3_get_autocommit(handle) == 0 }

    func begin() throws(SpoolError) { try use(.begin).run() }

    /// After this a process that starts later finds what was written, even when this one is killed at once.
    func commit() throws(SpoolError) { try use(.commit).run() }

    /// After a commit: keeps the log short even when nobody asks for it. Should that fail, the next one tries again.
    func limitLog() {
        if logPages > Self.guardPages { try? checkpoint() }
    }

    func rollBack() {
        if inTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    // MARK: The log

    private func logGrew(to pages: Int) {
        pagesLogged += pages > logPages ? pages - logPages : pages
        logPages = pages
    }

    /// Loss of the files since they were opened; nil: all is well.
    func loss() -> FileLoss? {
        place?.loss(logBytes: logPages > 0 ? LogScan.headBytes + logPages * LogScan.frameBytes : 0)
    }

    /// Whether what has this name now is in part ours, or a log without a database.
    func hasPart(at path: String) -> Bool { place?.isPart(of: path) ?? true }

    /// The pages of the files that were opened, wherever they are by now.
    func pages() -> PageFile? { place.flatMap { PageFile(file: dup($0.file), log: dup($0.log)) } }

    /// Looks whether the files are still where and what they were.
    func look() throws(SpoolError) {
        if let loss = loss() { throw loss.error }
    }

    /// Has the log on the disk: what was committed survives a power cut.
    func makeDurable() throws(SpoolError) {
        guard let place else { throw failure() }
        while fdatasync(place.log) != 0 {
            guard errno == EINTR else { throw SpoolError(file: path + "-wal", errno: errno) }
        }
    }

    /// Writes the log back into the file, and empties it.
    func checkpoint() throws(SpoolError) {
        guard handle != nil else { throw failure() }
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        place?.note()
        guard code == SQLITE_OK else { throw failure() }
        pagesWrittenBack += logPages
        logPages = 0
    }

    // MARK: Size

    /// Pages of the file that hold something.
    func usedPages() throws(SpoolError) -> Int {
        let all = try use(.pageCount)
        guard try all.step() else { return 0 }
        let free = try use(.freePages)
        guard try free.step() else { return 0 }
        return all.int(0) - free.int(0)
    }

    func filePages() throws(SpoolError) -> Int {
        let all = try use(.pageCount)
        return try all.step() ? all.int(0) : 0
    }

    /// The file never grows beyond this; SQLite reports that the disk is full then.
    func limit(pages: Int) throws(SpoolError) { try execute("PRAGMA max_page_count=\(pages)") }
}

extension Database {
    /// Opens a file of ours and looks whether it is one; makes the tables in a new one.
    func open() throws(SpoolError) {
        try checkHead()
        try connect()
        if try number("SELECT count(*) FROM sqlite_schema") == 0, try number("PRAGMA application_id") == 0 {
            return try makeTables()
        }
        try identify()
        // Memory cards lose bits at rest, too: at each start.
        try check(upTo: Self.wholeCheckPages)
    }

    private func makeTables() throws(SpoolError) {
        try begin()
        for statement in Schema.statements { try execute(statement) }
        try execute("PRAGMA application_id=\(Schema.application)")
        try execute("PRAGMA user_version=\(Schema.version)")
        try commit()
    }

    private func identify() throws(SpoolError) {
        let application = try number("PRAGMA application_id") ?? 0
        guard application == Schema.application else { throw damage("a database of another program") }
        let version = try number("PRAGMA user_version") ?? 0
        guard (1...Schema.version).contains(version) else {
            throw damage("tables of version \(version), not \(Schema.version)")
        }
        let tables = try tables()
        let known = version == Schema.version ? Schema.statements : Schema.third
        guard tables == known || version == 1 && tables == Schema.first else {
            throw damage("other tables than expected")
        }
        guard version < Schema.version else { return }
        try begin()
        if tables == Schema.first { try execute(Schema.fromFirst) }
        if version < 3 { try execute(Schema.fromSecond) }
        try execute(Schema.fromThird)
        try execute("PRAGMA user_version=\(Schema.version)")
        try commit()
    }

    private func tables() throws(SpoolError) -> [String] {
        try texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    }
}

/// Looks whether a database is as SQLite and we have left it.
extension Database {
    /// The whole file is read up to so many pages (64 MB); of larger ones only the tables that matter most.
    static let wholeCheckPages = 16_384

    /// Constant parts in the head of a file of ours: offset, and the values that may stand there. SQLite calls some of
    /// the others "read-only" or "unsupported", which would be taken for a fault that goes away.
    private static let head: [(offset: Int, values: [[UInt8]])] = [
        (0, [Array("SQLite format 3\0".utf8)]), (16, [[0x10, 0]]), (18, [[1, 1], [2, 2]]), (20, [[0, 64, 32, 32]]),
        (44, [[0, 0, 0, 0], [0, 0, 0, 4]]), (52, [[0, 0, 0, 0]]), (56, [[0, 0, 0, 0], [0, 0, 0, 1]]),
        (64, [[0, 0, 0, 0]]),
    ]

    /// Looks at the head of a file before SQLite does; an empty file, or none, is none of ours yet.
    private func checkHead() throws(SpoolError) {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 100) { $1 = max(0, pread(file, $0.baseAddress, 100, 0)) }
        guard bytes.count == 100 else { return }
        for (offset, values) in Self.head where !values.contains(where: { bytes[offset...].starts(with: $0) }) {
            throw damage("the head of the file is damaged, or not ours (byte \(offset))")
        }
    }

    /// Looks whether trees, free pages and indices agree. An index that does not agree with its table is made again.
    /// - Parameter pages: larger files are not read as a whole.
    /// - Throws: an error that `isDamage`, when anything else is wrong.
    func check(upTo pages: Int) throws(SpoolError) {
        let whole = try filePages() <= pages
        let checks =
            whole
            ? ["integrity_check"]
            : ["essential", "facts"].map { "integrity_check(\($0))" }
                + ["ring", "levels", "vibration"].map { "quick_check(\($0))" }
        for one in checks {
            let findings = try texts("PRAGMA \(one)")
            if findings == ["ok"] { continue }
            let indices = Set(Schema.indices.filter { index in findings.contains { $0.hasSuffix(" index \(index)") } })
            let isOfIndices = findings.allSatisfy { finding in indices.contains { finding.hasSuffix(" index \($0)") } }
            guard isOfIndices, !indices.isEmpty else { throw damage(findings.first ?? "no result of \(one)") }
            try makeAgain(indices.sorted())
            guard try texts("PRAGMA \(one)") == ["ok"] else { throw damage(findings[0]) }
        }
    }

    /// Looks whether the index of what waits has what its table has, without reading more than that.
    func checkWaiting() throws(SpoolError) {
        let sums = "SELECT count(*) || ' ' || total(key) FROM essential"
        let index = try texts("\(sums) INDEXED BY waiting WHERE state = 0")
        guard try texts("\(sums) NOT INDEXED WHERE state = 0") != index else { return }
        try makeAgain(["waiting"])
    }

    private func makeAgain(_ indices: [String]) throws(SpoolError) {
        try begin()
        do throws(SpoolError) {
            for index in indices { try execute("REINDEX \(index)") }
            try commit()
        } catch {
            rollBack()
            throw error
        }
        rebuilt += indices
    }

    func damage(_ text: String) -> SpoolError { SpoolError(file: path, code: SQLITE_NOTADB, text: text) }
}

/// Notes of the spool for itself, in the table of facts.
enum OwnFact: String {
    /// The machine's start during which the file was last opened.
    case boot = "spool.boot"
    /// Messages have smaller numbers than this.
    case reserved = "spool.reserved"
    /// Dropped messages by class.
    case dropped = "spool.dropped"
    /// Rows that were lost by damage: messages, others, and how often nobody knows.
    case damaged = "spool.damaged"
    /// Ages of messages; see ``MessageAges``.
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

/// A prepared statement while it is used; it is reset when it goes out of scope. Values that are bound must live as
/// long.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let database: Database

    init(_ handle: OpaquePointer, _ database: Database) {
        self.handle = handle
        self.database = database
    }

    deinit {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// True: there is a row. False: done.
    func step() throws(SpoolError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw database.failure()
        }
    }

    /// For statements that give no rows.
    func run() throws(SpoolError) { while try step() {} }

    // MARK: Parameters, from 1

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
    func bind(_ index: Int32, _ value: Int) { sqlite3_bind_int64(handle, index, Int64(value)) }
    func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }

    /// The text is copied.
    func bind(_ index: Int32, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                _ = sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), Self.copied)
            }
        }
    }

    /// The bytes are not copied.
    func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress, bytes.count > 0 {
            sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), nil)
        } else {
            sqlite3_bind_zeroblob(handle, index, 0)
        }
    }

    /// SQLITE_TRANSIENT, which is a cast in C.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    // MARK: Columns, from 0

    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }
    func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    /// To be asked before `text`, which makes one of it.
    func isText(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_TEXT }

    /// Bytes that are not UTF-8 are replaced.
    func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// Valid until the next step.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let base = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    func bytes(_ column: Int32) -> [UInt8] { [UInt8](blob(column)) }
}

/// A checksum of everything in a row: flash cards give back wrong bytes now and then, and SQLite does not notice. A row
/// whose end is lost, so that all of it reads as nothing, has another sum than 0.
struct RowSum {
    private var state: UInt64

    init(key: Int64) { state = UInt64(bitPattern: key) }

    mutating func mix(_ value: UInt64) {
        state = (state ^ value) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }

    mutating func mix(_ value: Int64) { mix(UInt64(bitPattern: value)) }

    mutating func mix(_ bytes: UnsafeRawBufferPointer) { mix(UInt64(CRC32C.checksum(bytes))) }

    /// As it is kept in the column `sum`.
    var value: Int64 { Int64(state >> 32) }
}
