import Glibc
import Platform

/// Files of programs that administer a machine.
package enum Disk {
    package static func bytes(_ path: String) -> [UInt8]? { SmallFile.bytes(path, limit: 1 << 28, isRegular: true) }

    package static func text(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether there is a file, and it is not empty.
    package static func holds(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_size > 0
    }

    package static func names(_ folder: String) -> [String] { FolderNames.all(in: folder).sorted() }

    /// Replaces a file: it is the old one or the new one, whole, whenever the power goes.
    package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(Failure) {
        try write(path + ".writing", bytes, mode: mode)
        try move(path + ".writing", path)
    }

    /// Writes a file anew.
    /// - Parameters:
    ///   - mode: of the file in the end.
    ///   - owned: gives the open file to somebody, after its mode and before it is brought to the disk.
    package static func write(
        _ path: String, _ bytes: [UInt8], mode: mode_t, isSynced: Bool = true,
        owned: (Int32) throws(Failure) -> Void = { (_: Int32) throws(Failure) in }
    ) throws(Failure) {
        let files = SystemFiles()
        var file: Int32 = -1
        defer { if file >= 0 { close(file) } }
        do throws(FileError) {
            // (What a power cut has left may be somebody else's already, and a unit may not write into that.)
            try files.remove(path)
            file = try files.create(path)
            try files.fill(file, bytes)
        } catch {
            throw Failure("\(error.call) \(path): \(String(cString: strerror(error.code)))")
        }
        // Before it is somebody else's: the units may not change files of others.
        guard fchmod(file, mode) == 0 else { throw failure("chmod", path) }
        try owned(file)
        if isSynced, fsync(file) != 0 { throw failure("fsync", path) }
    }

    package static func remove(_ path: String) {
        if unlink(path) == 0 { syncFolder(of: path) }
    }

    package static func move(_ path: String, _ target: String) throws(Failure) {
        guard rename(path, target) == 0 else { throw failure("rename", path) }
        syncFolder(of: target)
    }

    package static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return }
        fsync(file)
        close(file)
    }

    /// Brings a file to the disk.
    package static func syncFile(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return fsync(file) == 0
    }

    /// Brings all of the disk of a file or folder to it.
    package static func syncDisk(of path: String) -> Bool {
        ChildProgram(["sync", "-f", "--", path], seconds: 600)?.isDone == true
    }

    package static func failure(_ call: String, _ path: String) -> Failure {
        Failure("\(call) \(path): \(String(cString: strerror(errno)))")
    }
}

/// A lock that one process has at a time, until it is released or nobody knows it any more.
package final class FileLock {
    private var file: Int32

    /// - Parameters:
    ///   - flags: of `open`, beside O_CLOEXEC.
    ///   - seconds: that it waits; nil: without end.
    package init?(_ path: String, flags: Int32 = O_CREAT | O_RDWR, seconds: Double?) {
        file = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return nil }
        guard let seconds else {
            while flock(file, LOCK_EX) != 0, errno == EINTR {}
            return
        }
        let end = monotonicSeconds() + seconds
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            if errno != EWOULDBLOCK && errno != EINTR || monotonicSeconds() >= end {
                return nil
            }
            pause(0.05)
        }
    }

    package func release() {
        if file >= 0 { close(file) }
        file = -1
    }

    deinit { release() }
}
