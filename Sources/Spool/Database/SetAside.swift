import Glibc

/// A damaged file under its new name.
public struct SetAsideFile: Sendable, Equatable, CustomStringConvertible {
    public var path: String
    /// What was wrong with it, in SQLite's words or ours.
    public var reason: String
    /// Messages of the first class that could still be read and are in the new file.
    public internal(set) var salvaged = 0

    init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    public var description: String { "\(path): \(reason); essential messages taken over from it: \(salvaged)" }
}

/// Damaged files are kept for people to look at, under another name; at most two of them.
enum SetAside {
    static let kept = 2
    /// What SQLite puts beside a file.
    static let companions = ["", "-wal", "-shm", "-journal"]

    /// Renames a file, with what belongs to it, to `<name>.broken-<n>`.
    static func rename(_ path: String, _ reason: String) throws(SpoolError) -> SetAsideFile {
        let (folder, name) = split(path)
        let prefix = name + ".broken-"
        let numbers = names(in: folder).compactMap { entry -> Int? in
            guard entry.utf8.starts(with: prefix.utf8) else { return nil }
            return Int(entry.dropFirst(prefix.count).prefix { $0.isNumber })
        }
        let next = (numbers.max() ?? 0) &+ 1
        for number in Set(numbers).sorted().dropLast(kept - 1) {
            for companion in companions { unlink("\(path).broken-\(number)\(companion)") }
        }
        // The database last: should this be interrupted, it is still found to be damaged.
        for companion in companions.reversed() {
            let target = "\(path).broken-\(next)\(companion)"
            guard Glibc.rename(path + companion, target) != 0 else { continue }
            // A folder of that name in the way of a file, or the other way round.
            guard errno == ENOENT else { throw SpoolError(file: path + companion, errno: errno) }
        }
        sync(folder: folder)
        return SetAsideFile(path: "\(path).broken-\(next)", reason: reason)
    }

    /// Whether there is something under the names of the database that no database can be.
    static func isBlocked(_ path: String) -> Bool {
        companions.contains { companion in
            var status = stat()
            return lstat(path + companion, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        }
    }

    /// Has the names in a folder on the disk.
    static func sync(folder: String) {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return }
        fsync(file)
        close(file)
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return (".", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }
}
