import Glibc
import Messages

/// What the station keeps on its disk: messages that wait for the broker, the events of the last weeks, a ring of
/// full-rate waveform, and small facts. One SQLite file, `spool.db` in its folder, for one thread.
///
/// Writing begins a transaction by itself; `commit` ends it. **A call that throws undoes everything since the last
/// `commit`**, so that what is in memory and what is in the file never differ; numbers are not given twice even then.
/// (`makeDurable`, `checkpoint` and `close` commit first; when they throw after that, it stays committed.)
/// When the error says `isDamage`, `recover` sets the file aside and begins a new one.
///
/// What a power cut can take: nothing before the last `makeDurable` or `checkpoint`. What a kill can take: nothing before
/// the last `commit`.
public struct Spool: ~Copyable {
    public static let fileName = "spool.db"

    public private(set) var options: SpoolOptions
    /// The damaged file that was set aside by `open` or the last `recover`.
    public internal(set) var setAsideFile: SetAsideFile?
    /// The same in words; nil: all is well.
    public var setAside: String? { setAsideFile?.description }

    let database: Database
    private let lock: FolderLock
    private let boot: String
    /// Number of the next message, without its class.
    var next: Int64
    var books: Books
    /// As of the last commit.
    private var committed: Books
    /// The damaged file has been set aside, and there is no new one yet.
    private var isWithoutFile = false

    /// Opens the spool or makes it. Damaged files are set aside, see `setAside`.
    /// - Parameter now: nanoseconds of UTC.
    /// - Throws: when the folder or the disk does not allow it, or another process has it open: to be tried again.
    public static func open(_ options: SpoolOptions, now: Int64) throws(SpoolError) -> Spool {
        try open(options, now: now, boot: machineStart())
    }

    static func open(_ options: SpoolOptions, now: Int64, boot: String) throws(SpoolError) -> Spool {
        if mkdir(options.directory, 0o750) != 0, errno != EEXIST {
            throw SpoolError(file: options.directory, errno: errno)
        }
        let lock = try FolderLock(options.directory + "/spool.lock")
        let path = options.directory + "/" + fileName
        var setAside: SetAsideFile?
        if SetAside.isBlocked(path) { setAside = try SetAside.rename(path, "not a file") }
        let database = Database(path)
        var books = Books()
        do throws(SpoolError) {
            books = try load(database, options, boot)
        } catch {
            database.close()
            guard error.isDamage else { throw error }
            setAside = try SetAside.rename(path, error.text)
            books = try load(database, options, boot)
        }
        var spool = Spool(options, database, lock, boot, books, setAside)
        spool.salvage()
        _ = try spool.trim(now: now)
        try spool.commit()
        return spool
    }

    private init(
        _ options: SpoolOptions, _ database: Database, _ lock: FolderLock, _ boot: String, _ books: Books,
        _ setAside: SetAsideFile?
    ) {
        self.options = options
        self.database = database
        self.lock = lock
        self.boot = boot
        self.books = books
        setAsideFile = setAside
        committed = books
        next = books.reserved
    }

    private static func load(
        _ database: Database, _ options: SpoolOptions, _ boot: String
    ) throws(SpoolError) -> Books {
        try database.open(boot: boot)
        let books = try Books(database)
        try database.limit(pages: options.pages + 64)
        if try database.fact(.boot) != Array(boot.utf8) { try database.set(.boot, Array(boot.utf8)) }
        SetAside.sync(folder: options.directory)
        return books
    }

    /// After an error that `isDamage`: sets the file aside, begins a new one and takes over what can still be read of
    /// the first class. Numbers go on from where they are, and what is taken over keeps its own.
    /// - Throws: when that does not work; it may be tried again.
    public mutating func recover() throws(SpoolError) {
        database.close()
        // (Once, should the new file not come about at first.)
        if !isWithoutFile { setAsideFile = try SetAside.rename(database.path, "damaged while in use") }
        isWithoutFile = true
        do throws(SpoolError) {
            books = try Self.load(database, options, boot)
        } catch {
            database.close()
            throw error
        }
        isWithoutFile = false
        committed = books
        salvage()
    }

    /// Other limits, from now on; the directory stays. Call `trim` after it.
    public mutating func reconfigure(_ options: SpoolOptions) throws(SpoolError) {
        let directory = self.options.directory
        self.options = options
        self.options.directory = directory
        try database.limit(pages: self.options.pages + 64)
    }

    /// Ends in order: commits, writes the log back and closes. Going out of scope does the same without the commit.
    public consuming func close() throws(SpoolError) {
        try commit()
        database.close()
    }

    // MARK: Transactions

    /// What was written is there for a process that starts after a kill of this one. Does not wait for the disk.
    public mutating func commit() throws(SpoolError) {
        guard database.inTransaction else { return }
        do throws(SpoolError) { try database.commit() } catch { throw undo(error) }
        committed = books
        database.limitLog()
    }

    /// Commits and waits for the disk: what was written survives a power cut.
    public mutating func makeDurable() throws(SpoolError) {
        try commit()
        try database.makeDurable()
    }

    /// For idle moments: writes the log back into the file when it is longer than 1 MB. Waits for the disk.
    public mutating func checkpoint() throws(SpoolError) {
        try commit()
        if database.logPages > 256 { try database.checkpoint() }
    }

    mutating func begin() throws(SpoolError) {
        if !database.inTransaction { try database.begin() }
    }

    /// After a failed write.
    mutating func undo(_ error: SpoolError) -> SpoolError {
        database.rollBack()
        books = committed
        return error
    }

    // MARK: State

    public var statistics: SpoolStatistics {
        mutating get {
            var statistics = books.statistics
            statistics.oldestMade = oldestMade()
            statistics.ringSegments = books.ring.entries.count
            statistics.ringBytes = books.ring.bytes
            statistics.ringSeconds = books.ring.seconds
            statistics.fileBytes = ((try? database.filePages()) ?? 0) * Database.pageBytes
            statistics.logBytes = database.logPages * Database.pageBytes
            statistics.bytesWritten = (database.pagesLogged + database.pagesWrittenBack) * Database.pageBytes
            return statistics
        }
    }

    private static func machineStart() -> String {
        let file = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = Glibc.read(file, &bytes, bytes.count)
        return count == bytes.count ? String(decoding: bytes, as: UTF8.self) : ""
    }
}

/// Keeps a second agent out of the folder for as long as it lives.
final class FolderLock {
    private let file: Int32

    init(_ path: String) throws(SpoolError) {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
        guard file >= 0 else { throw SpoolError(file: path, errno: errno) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(file)
            var error = SpoolError(file: path, errno: code)
            if code == EWOULDBLOCK { error.text = "another process has this spool open" }
            throw error
        }
    }

    deinit { close(file) }
}
