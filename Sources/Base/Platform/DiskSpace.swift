import Glibc

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
