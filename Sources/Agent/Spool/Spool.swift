import Glibc
import Messages
import MiniSEED

/// The station's storage on disk: messages that wait for the broker, the events of the last weeks, a ring of
/// full-rate waveform, and small facts. One SQLite file, `spool.db` in its folder, for one thread.
///
/// Writing begins a transaction by itself; `commit` ends it. **A call that throws undoes everything since the last
/// `commit`**, so that what is in memory and what is in the file never differ; numbers are not given twice even then.
/// (`makeDurable`, `checkpoint` and `close` commit first; when they throw after that, it stays committed.)
/// When the error says `isDamage` or `isGone`, `recover` begins a new file.
///
/// A power cut loses nothing that was written before the last `makeDurable` or `checkpoint`; a kill loses nothing that was
/// written before the last `commit`.
public struct Spool: ~Copyable {
    public static let fileName = "spool.db"

    public private(set) var options: SpoolOptions
    /// The damage that `open` or the last `recover` found.
    public internal(set) var setAsideFile: SetAsideFile?
    /// The same in words; nil: all is well.
    public var setAside: String? { setAsideFile?.description }

    private(set) var database: Database
    private var lock: FolderLock
    private let boot: String
    /// Number of the next message, without its class.
    var next: Int64
    var books: Books
    /// As of the last commit.
    private var committed: Books
    /// The file has been given up, and there is no new one yet: `recover` is to be called again.
    public private(set) var isWithoutFile = false
    /// What was given up because its files are gone: it can be read for as long as it is open.
    private var former: Database?
    /// Rows that somebody wanted to read and that are not what was written, or are not there though others name them; since
    /// the start. What is told of the past is not whole when this has risen meanwhile.
    public internal(set) var unread = 0
    /// For reading the ring.
    var decoder = MiniSEEDDecoder()
    var samples: [Double] = []
    /// Messages that were in what was given up.
    private var expected = 0
    /// Losses that have been told of.
    var found = (rows: 0, others: 0)

    /// Opens the spool or makes it. Damaged files are set aside, see `setAside`.
    /// - Parameter now: of a clock that never jumps (ns), the one that `trim` gets.
    /// - Throws: when the folder or the disk does not allow it, or another process has it open: to be tried again.
    public static func open(_ options: SpoolOptions, now: Int64) throws(SpoolError) -> Spool {
        try open(options, now: now, boot: machineStart())
    }

    static func open(_ options: SpoolOptions, now: Int64, boot: String) throws(SpoolError) -> Spool {
        if mkdir(options.directory, 0o750) != 0, errno != EEXIST {
            throw SpoolError(file: options.directory, errno: errno)
        }
        let lock = try FolderLock(options.directory + "/spool.lock")
        let database = Database(options.directory + "/" + fileName)
        let (books, setAside) = try openFile(database, options, boot, lock)
        var spool = Spool(options, database, lock, boot, books, setAside)
        spool.salvage()
        do throws(SpoolError) {
            try spool.begin(now: now)
        } catch {
            // What is found only now is no other damage.
            guard error.isDamage else { throw error }
            try spool.recover()
            try spool.begin(now: now)
        }
        return spool
    }

    private mutating func begin(now: Int64) throws(SpoolError) {
        try checkAtStart()
        try makeLevelsAgain()
        _ = try trim(now: now)
        try commit()
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
        found = (books.statistics.damaged, books.statistics.damagedOthers)
    }

    /// Opens the existing file, or moves it aside and creates a new one.
    private static func openFile(
        _ database: Database, _ options: SpoolOptions, _ boot: String, _ lock: FolderLock
    ) throws(SpoolError) -> (Books, SetAsideFile?) {
        let path = database.path
        var setAside: SetAsideFile?
        if SetAside.isBlocked(path) {
            setAside = try SetAside.rename(path, "not a file")
        } else if SetAside.isHeadless(path) {
            setAside = try SetAside.rename(path, "there is a log, and no database that it belongs to")
        } else {
            setAside = try LogMending.mend(path, isSameStart: lock.isOf(boot))
        }
        let frames = setAside?.frames ?? 0
        var books: Books
        do throws(SpoolError) {
            books = try load(database, options, boot)
        } catch {
            database.close(asItIs: true)
            guard error.isDamage else { throw error }
            let before = setAside.map { $0.reason + "; then: " } ?? ""
            setAside = try SetAside.rename(path, before + error.text)
            books = try load(database, options, boot)
        }
        if frames > 0 {
            books.statistics.damagedPages += frames
            try database.set(.pages, numbers: [Int64(books.statistics.damagedPages)])
        }
        lock.note(boot)
        return (books, setAside)
    }

    private static func load(
        _ database: Database, _ options: SpoolOptions, _ boot: String
    ) throws(SpoolError) -> Books {
        try database.open()
        let books = try Books(database)
        try database.limit(pages: options.pages + 64)
        if try database.fact(.boot) != Array(boot.utf8) { try database.set(.boot, Array(boot.utf8)) }
        SetAside.sync(folder: options.directory)
        return books
    }

    /// After an error that `isDamage` or `isGone`: begins a new file and takes over what can still be read.
    /// A damaged file is set aside; one that is gone is still open here, and is read for the last time. Numbers go on from
    /// where they are, and what is taken over keeps its own unless there is something under it.
    /// - Parameter keys: messages that are in memory as well: they are not taken over, and are to be put again.
    /// - Throws: when that does not work; it may be tried again.
    public mutating func recover(except keys: Set<Int64> = []) throws(SpoolError) {
        if !isWithoutFile {
            expected = committed.statistics.messages.total + committed.statistics.keptMessages
            try giveUp()
            isWithoutFile = true
        }
        if let former, former.loss() == nil {
            // It was only away for a while.
            (database, self.former) = (former, nil)
        } else {
            if former != nil, mkdir(options.directory, 0o750) != 0, errno != EEXIST {
                throw SpoolError(file: options.directory, errno: errno)
            }
            lock = try lock.inPlace()
            do throws(SpoolError) {
                let (found, setAside) = try Self.openFile(database, options, boot, lock)
                (books, committed) = (found, found)
                if former == nil, let setAside { setAsideFile = setAside }
                if former != nil, let setAside { setAsideFile?.reason += "; in its place: \(setAside.reason)" }
            } catch {
                database.close(asItIs: true)
                throw error
            }
            next = max(next, books.reserved)
        }
        isWithoutFile = false
        let isOther = former != nil || setAsideFile?.kind == .database
        if let pages = former?.pages() {
            salvage(from: pages, except: keys, expected: expected)
        } else {
            salvage(except: keys, expected: expected)
        }
        former?.close(asItIs: true)
        former = nil
        found = (books.statistics.damaged, books.statistics.damagedOthers)
        guard !isOther else { return try makeLevelsAgain() }
        // The same file: what is put again would be there twice.
        do throws(SpoolError) {
            try begin()
            for key in keys { try drop(key) }
        } catch { throw undo(error) }
    }

    /// Leaves the file, or what is left of it, with as much in it as possible.
    private mutating func giveUp() throws(SpoolError) {
        let path = database.path
        database.rollBack()
        guard let loss = database.loss(), loss.error.isGone else {
            database.close(asItIs: true)
            setAsideFile = try SetAside.rename(path, "damaged while in use")
            return
        }
        if loss.isOfLogAlone {
            if loss.hasLog { try? database.checkpoint() }
            database.close(asItIs: true)
            try SetAside.keepLog(path, stays: false)
        } else {
            // Of what belongs together, all or nothing stays.
            if database.hasPart(at: path) { _ = try SetAside.rename(path, loss.error.text) }
            (former, database) = (database, Database(path))
        }
        setAsideFile = SetAsideFile(path: path, reason: loss.error.text, kind: .gone)
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
        do throws(SpoolError) {
            try database.look()
            try database.commit()
        } catch { throw undo(error) }
        committed = books
        database.limitLog()
    }

    /// Commits and waits for the disk: what was written survives a power cut.
    public mutating func makeDurable() throws(SpoolError) {
        try commit()
        try database.makeDurable()
    }

    /// For idle moments: writes the log back into the file when it is longer than 1 MB. Waits for the disk.
    /// - Parameter whole: however short it is: what stands in the file is safer from damage.
    public mutating func checkpoint(whole: Bool = false) throws(SpoolError) {
        try commit()
        try database.look()
        if database.logPages > (whole ? 0 : 256) { try database.checkpoint() }
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
