import Glibc

/// Files that are read whole, such as the kernel's, whose size is not known before. Nothing is waited for.
public enum SmallFile {
    /// The bytes of a file; nil when it cannot be read.
    /// - Parameters:
    ///   - limit: so many are read at most.
    ///   - isRegular: nil as well for a link, for what is no regular file, and for one that is larger.
    public static func bytes(_ path: String, limit: Int = 1 << 20, isRegular: Bool = false) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (isRegular ? O_NOFOLLOW : 0))
        guard file >= 0 else { return nil }
        defer { close(file) }
        var facts = stat()
        if isRegular {
            guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
            guard facts.st_size <= limit else { return nil }
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit, 65_536))
        while bytes.count < limit {
            let count = read(file, &chunk, min(chunk.count, limit - bytes.count))
            // The kernel's log says EPIPE where lines were lost, EAGAIN at its end.
            if count < 0, errno == EINTR || errno == EPIPE { continue }
            if count < 0, isRegular { return nil }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// The same as text.
    public static func text(_ path: String, limit: Int = 1 << 20) -> String? {
        bytes(path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Names in a folder.
public enum FolderNames {
    /// Names of all that is in it, in no order, without `.` and `..`; empty when it cannot be read.
    public static func all(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// Space on the file system of a folder.
public struct DiskSpace: Sendable, Equatable {
    /// The folder that was asked.
    public var path: String
    /// Bytes; free for everybody, not only for root.
    public var total, free: Int64
    /// Nil: the file system does not limit the number of files.
    public var freeFiles: Int64?
    public var isReadOnly: Bool

    /// Nil: `errno` says why.
    public init?(_ path: String) {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { return nil }
        let block = Int64(clamping: facts.f_frsize)
        self.path = path
        (total, free) = (Int64(clamping: facts.f_blocks) * block, Int64(clamping: facts.f_bavail) * block)
        freeFiles = facts.f_files == 0 ? nil : Int64(clamping: facts.f_favail)
        isReadOnly = facts.f_flag & UInt(ST_RDONLY) != 0
    }

    /// The nearest folder that there is: a path itself, or one above it.
    public static func folder(at path: String) -> String {
        var (place, facts) = (path, stat())
        while stat(place, &facts) != 0 || facts.st_mode & S_IFMT != S_IFDIR {
            guard place != "/", let end = place.lastIndex(of: "/") else { return "/" }
            place = end == place.startIndex ? "/" : String(place[..<end])
        }
        return place
    }
}
