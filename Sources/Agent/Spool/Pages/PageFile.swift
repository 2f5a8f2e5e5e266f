import Glibc

/// The pages of a database and its log, past SQLite: for reading what SQLite cannot read any more. Nobody may write to the
/// files meanwhile.
final class PageFile {
    static let pageBytes = Database.pageBytes

    /// SEEK_DATA of Linux, which Glibc's module does not have.
    private static let seekData: Int32 = 3

    private let file: Int32
    private let log: LogScan?
    /// Frames of the log that hold a page's newest version.
    private let frames: [Int: Int]
    /// Pages of the file and its log.
    let count: Int
    /// Pages that could not be read at the second attempt either.
    private(set) var unreadable: Set<Int> = []

    /// Files by their name. Nil: there is nothing.
    convenience init?(_ path: String) {
        func open(_ path: String) -> Int32 { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        self.init(file: open(path), log: open(path + "-wal"))
    }

    /// Takes the descriptors over.
    init?(file: Int32, log: Int32) {
        self.file = file
        self.log = LogScan(file: log)
        frames = self.log?.newest() ?? [:]
        var status = stat()
        let isFile = file >= 0 && fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let size = isFile ? Int(status.st_size) : 0
        // (64 GB: more than any budget.)
        count = min(max((size + Self.pageBytes - 1) / Self.pageBytes, frames.keys.max() ?? 0), 1 << 24)
        guard count > 0 else { return nil }
    }

    deinit { if file >= 0 { close(file) } }

    /// The next page, after one of zeros, for which the file has room on the disk or its log has a frame.
    func next(after number: Int) -> Int {
        let data = lseek(file, off_t(number * Self.pageBytes), Self.seekData)
        let next = data < 0 ? count + 1 : max(number + 1, Int(data) / Self.pageBytes + 1)
        return min(next, frames.keys.filter { $0 > number }.min() ?? next)
    }

    /// A page by its number, from 1; nil: it cannot be read, or there is none. Of a file that is cut short the rest is
    /// zeros.
    func read(_ number: Int) -> [UInt8]? {
        guard number > 0, number <= count else { return nil }
        if let frame = frames[number] { return log?.page(of: frame) }
        for _ in 0..<2 {
            var read = 0
            let page = [UInt8](unsafeUninitializedCapacity: Self.pageBytes) { buffer, filled in
                read = pread(file, buffer.baseAddress, Self.pageBytes, off_t((number - 1) * Self.pageBytes))
                for place in max(0, read)..<Self.pageBytes { buffer[place] = 0 }
                filled = Self.pageBytes
            }
            if read > 0 { return page }
        }
        unreadable.insert(number)
        return nil
    }
}
