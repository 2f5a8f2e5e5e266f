import Glibc

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
