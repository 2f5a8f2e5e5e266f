import Glibc

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
