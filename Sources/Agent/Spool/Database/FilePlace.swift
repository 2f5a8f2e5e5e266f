import Glibc
import Platform

/// Loss of files that are open.
struct FileLoss {
    var error: SpoolError
    /// The database itself is in its place, and nobody else has written to it.
    var isOfLogAlone = false
    /// All of the log can still be read by the one who has it open.
    var hasLog = false
}

/// Which files a database was opened with. SQLite would go on with them for ever, whatever is under their names by now.
struct FilePlace {
    private static let headBytes = 100

    private let path: String
    /// Descriptors of our own. Closing that of the database loses SQLite's locks on it: not before SQLite has closed it.
    let file: Int32
    let log: Int32
    /// SQLite's head of the file, and the file's length, at our last write.
    private var head: [UInt8] = []
    private var bytes = 0

    init(_ path: String) {
        self.path = path
        (file, log) = (Self.open(path), Self.open(path + "-wal"))
        note()
    }

    private static func open(_ path: String) -> Int32 {
        Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    }

    /// Only when the database is closed.
    func close() {
        for one in [file, log] where one >= 0 { Glibc.close(one) }
    }

    /// The database has been written to.
    mutating func note() {
        head = begin()
        bytes = Self.size(file)
    }

    private func begin() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.headBytes) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, Self.headBytes, 0))
        }
    }

    private static func size(_ file: Int32) -> Int {
        var status = stat()
        return fstat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// - Parameter logBytes: of the log that have yet to be written back.
    func loss(logBytes: Int) -> FileLoss? {
        let whole = Self.size(log) >= logBytes
        if let error = error(path, file, bytes) { return FileLoss(error: error, hasLog: whole) }
        if begin() != head { return FileLoss(error: .gone(path, "was overwritten"), hasLog: whole) }
        guard let error = error(path + "-wal", log, logBytes) else { return nil }
        return FileLoss(error: error, isOfLogAlone: true, hasLog: whole)
    }

    /// Whether one of the files has this name, or there is no such database.
    func isPart(of path: String) -> Bool {
        error(path, file, 0)?.code != ESTALE || error(path + "-wal", log, 0) == nil
    }

    private func error(_ path: String, _ file: Int32, _ least: Int) -> SpoolError? {
        var (there, ours) = (stat(), stat())
        guard lstat(path, &there) == 0 else {
            var error = SpoolError(file: path, errno: errno)
            // Out of reach is not away.
            error.isGone = error.code == ENOENT || error.code == ENOTDIR
            return error
        }
        guard fstat(file, &ours) == 0, there.st_ino == ours.st_ino, there.st_dev == ours.st_dev else {
            return .gone(path, "is another file than the one that was opened")
        }
        return there.st_size < least ? .gone(path, "was cut short to \(there.st_size) of \(least) bytes") : nil
    }
}

/// A damaged file, or one that was taken away, and its new place.
public struct SetAsideFile: Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The database was damaged: it is kept under another name, and there is a new one.
        case database
        /// Its log alone was damaged: a copy is kept, and what could be mended is in force.
        case log
        /// Rows were not as they were written, or an index did not agree with its table: the file stays in use.
        case rows
        /// The files were deleted, replaced or cut short while they were in use.
        case gone
    }

    public var kind: Kind
    /// Its new name; of what is gone, the old one.
    public var path: String
    /// Reason, in SQLite's words or ours.
    public var reason: String
    /// Messages of the first class that could still be read and are in the new file.
    var salvaged = 0
    /// Messages that could not be read, and are in no memory; nil: nobody knows.
    public internal(set) var lost: Int? = 0
    /// Damaged pages of the log.
    var frames = 0

    init(path: String, reason: String, kind: Kind = .database) {
        self.path = path
        self.reason = reason
        self.kind = kind
    }

    public var description: String {
        guard kind == .database || kind == .gone else { return "\(path): \(reason)" }
        let lost = lost.map { String($0) } ?? "unknown"
        return "\(path): \(reason); essential messages taken over from it: \(salvaged); lost messages: \(lost)"
    }
}

/// Damaged files are kept for people to look at, under another name; at most two of them.
enum SetAside {
    static let kept = 2
    /// Suffixes of the files that SQLite puts beside a file.
    static let companions = ["", "-wal", "-shm", "-journal"]

    /// Renames a file, with what belongs to it, to `<name>.broken-<n>`.
    static func rename(_ path: String, _ reason: String) throws(SpoolError) -> SetAsideFile {
        let target = newName(path)
        // The database last: should this be interrupted, it is still found to be damaged.
        for companion in companions.reversed() { try move(path, target, companion) }
        sync(folder: folder(of: path))
        return SetAsideFile(path: target, reason: reason)
    }

    /// Gives the log another name.
    /// - Parameter stays: it has its old one, too, where that is possible.
    /// - Returns: that name.
    @discardableResult
    static func keepLog(_ path: String, stays: Bool) throws(SpoolError) -> String {
        let target = newName(path)
        if !stays || link(path + "-wal", target + "-wal") != 0 { try move(path, target, "-wal") }
        return target + "-wal"
    }

    private static func move(_ path: String, _ target: String, _ companion: String) throws(SpoolError) {
        guard Glibc.rename(path + companion, target + companion) != 0 else { return }
        // A folder of that name in the way of a file, or the other way round.
        guard errno == ENOENT else { throw SpoolError(file: path + companion, errno: errno) }
    }

    /// The next free one; deletes all but the youngest before it.
    private static func newName(_ path: String) -> String {
        let folder = folder(of: path)
        let prefix = String(Substring(path.utf8.dropFirst(folder.utf8.count + 1))) + ".broken-"
        let numbers = FolderNames.all(in: folder).compactMap { entry -> Int? in
            guard entry.utf8.starts(with: prefix.utf8) else { return nil }
            return Int(entry.dropFirst(prefix.count).prefix { $0.isNumber })
        }
        let next = (numbers.max() ?? 0) &+ 1
        for number in Set(numbers).sorted().dropLast(kept - 1) {
            for companion in companions { unlink("\(path).broken-\(number)\(companion)") }
        }
        return "\(path).broken-\(next)"
    }

    /// Whether there is something under the names of the database that no database can be.
    static func isBlocked(_ path: String) -> Bool {
        companions.contains { companion in
            var status = stat()
            return lstat(path + companion, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        }
    }

    /// Whether there is a log and no database that it could belong to: SQLite deletes it without a word.
    static func isHeadless(_ path: String) -> Bool {
        var file = stat()
        var log = stat()
        return (lstat(path, &file) != 0 && errno == ENOENT || file.st_size == 0)
            && lstat(path + "-wal", &log) == 0 && log.st_size > LogScan.headBytes
    }

    /// Has the names in a folder on the disk.
    static func sync(folder: String) {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return }
        fsync(file)
        close(file)
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        return String(path[..<slash])
    }
}

/// Keeps a second agent out of the folder for as long as it lives, and remembers the machine's start during which the
/// folder was last in use.
final class FolderLock {
    private let path: String
    private let file: Int32

    init(_ path: String) throws(SpoolError) {
        self.path = path
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw SpoolError(file: path, errno: errno) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            // (`deinit` closes it: here it would be closed twice, and the second time perhaps be somebody else's.)
            var error = SpoolError(file: path, errno: errno)
            if error.code == EWOULDBLOCK { error.text = "another process has this spool open" }
            throw error
        }
    }

    deinit {
        // Said, and not left to the end of the last descriptor: a child that is just being started has a copy.
        _ = flock(file, LOCK_UN)
        close(file)
    }

    /// Itself, or one in the folder that is there now.
    func inPlace() throws(SpoolError) -> FolderLock {
        var (there, ours) = (stat(), stat())
        let isThere = lstat(path, &there) == 0 && fstat(file, &ours) == 0
        return isThere && there.st_ino == ours.st_ino && there.st_dev == ours.st_dev ? self : try FolderLock(path)
    }

    func isOf(_ boot: String) -> Bool {
        let bytes = [UInt8](unsafeUninitializedCapacity: 64) { $1 = max(0, pread(file, $0.baseAddress, 64, 0)) }
        return !bytes.isEmpty && bytes.elementsEqual(boot.utf8)
    }

    func note(_ boot: String) {
        guard !isOf(boot), ftruncate(file, 0) == 0 else { return }
        _ = Array(boot.utf8).withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
    }
}
