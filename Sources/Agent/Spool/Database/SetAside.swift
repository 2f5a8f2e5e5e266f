import Glibc
import Platform

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
