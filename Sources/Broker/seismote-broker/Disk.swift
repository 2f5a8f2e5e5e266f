import Broker
import Files
import Glibc

/// Files of the broker: each is the old one or the new one, whole, whenever the power goes.
enum Disk {
    /// Owner of a file.
    enum Owner {
        /// Root's alone.
        case root
        /// The broker's: mosquitto wants passwords and rights to be its own. (It can write none of them, /etc being closed to it.)
        case broker
        /// Root's, and the service of the certificates may read it.
        case enrolment
    }

    static func bytes(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size < 1 << 28 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(facts.st_size))
        var chunk = [UInt8](repeating: 0, count: max(4096, min(Int(facts.st_size) + 1, 1 << 20)))
        while true {
            let count = read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    static func text(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether there is a file, and it is not empty.
    static func holds(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_size > 0
    }

    static func names(_ folder: String) -> [String] { FolderNames.all(in: folder).sorted() }

    /// Replaces a file.
    static func replace(_ path: String, _ text: String, mode: mode_t = 0o600, owner: Owner = .broker) throws(Failure) {
        try replace([(path, text)], mode: mode, owner: owner)
    }

    /// Replaces files of one folder, each by itself. (Many are brought to the disk at once.)
    static func replace(
        _ files: [(path: String, text: String)], mode: mode_t = 0o600, owner: Owner = .broker
    ) throws(Failure) {
        for (path, text) in files {
            try write(path + ".writing", Array(text.utf8), mode, owner, isSynced: files.count < 16)
        }
        if files.count >= 16 { sync() }
        for (path, _) in files where rename(path + ".writing", path) != 0 { throw failure("rename", path) }
        if let path = files.first?.path { syncFolder(of: path) }
    }

    private static func write(
        _ path: String, _ bytes: [UInt8], _ mode: mode_t, _ owner: Owner, isSynced: Bool
    ) throws(Failure) {
        // (What a power cut has left may be the broker's own already, and the unit may not write into that.)
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("open", path) }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw failure("write", path) }
        }
        // Before it is somebody else's: the units may not change files of others.
        var mode = mode
        if owner == .enrolment { mode |= 0o040 }
        guard fchmod(file, mode) == 0 else { throw failure("chmod", path) }
        try give(file, path, owner)
        if isSynced, fsync(file) != 0 { throw failure("fsync", path) }
    }

    /// Makes a file or folder that is open somebody's, where we are root and they are there.
    private static func give(_ file: Int32, _ path: String, _ owner: Owner) throws(Failure) {
        guard geteuid() == 0 else { return }
        switch owner {
        case .root: return
        case .broker:
            guard let user = getpwnam("seismote-broker")?.pointee else { return }
            guard fchown(file, user.pw_uid, user.pw_gid) == 0 else { throw failure("chown", path) }
        case .enrolment:
            guard let group = getgrnam("seismote-enrol")?.pointee else { return }
            guard fchown(file, 0, group.gr_gid) == 0 else { throw failure("chown", path) }
        }
    }

    /// Makes a folder where there is none, with this mode in any case.
    static func makeFolder(_ path: String, mode: mode_t, owner: Owner = .root) throws(Failure) {
        if mkdir(path, mode) != 0, errno != EEXIST { throw failure("mkdir", path) }
        let file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw failure("open", path) }
        defer { close(file) }
        guard fchmod(file, mode) == 0 else { throw failure("chmod", path) }
        try give(file, path, owner)
    }

    static func remove(_ path: String) {
        if unlink(path) == 0 { syncFolder(of: path) }
    }

    static func move(_ path: String, _ target: String) throws(Failure) {
        guard rename(path, target) == 0 else { throw failure("rename", path) }
        syncFolder(of: target)
    }

    static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return }
        fsync(file)
        close(file)
    }

    static func failure(_ call: String, _ path: String) -> Failure {
        Failure("\(call) \(path): \(String(cString: strerror(errno)))")
    }
}

/// A lock that one process has at a time, until it is released or nobody knows it any more.
final class FileLock {
    private var file: Int32

    /// - Parameters:
    ///   - flags: of `open`, beside O_CLOEXEC.
    ///   - seconds: that it waits; nil: without end.
    init?(_ path: String, flags: Int32 = O_CREAT | O_RDWR, seconds: Double?) {
        file = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return nil }
        guard let seconds else {
            while flock(file, LOCK_EX) != 0, errno == EINTR {}
            return
        }
        let end = steadySeconds() + seconds
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            if errno != EWOULDBLOCK && errno != EINTR || steadySeconds() >= end {
                return nil
            }
            pause(0.05)
        }
    }

    func release() {
        if file >= 0 { close(file) }
        file = -1
    }

    deinit { release() }
}
