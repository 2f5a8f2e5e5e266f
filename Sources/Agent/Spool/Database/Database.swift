import CSQLite
import Glibc

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

    /// What became of the files since they were opened; nil: all is well.
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
