import Glibc
import Messages

/// A file that setup writes: shown first, replaced in one step.
struct FileChange {
    var path: String
    var text: String
    /// Not shown; for the agent's group alone.
    var isSecret = false
    /// For nobody but its owner.
    var isForRoot = false
    /// For the service's user alone.
    var isForService = false
    /// Said in place of the difference, for what nobody reads; nil: the difference is shown.
    var summary: String?

    /// The difference to what is there; empty: there is none.
    func difference() throws(CtlError) -> String {
        let old = SmallFiles.text(path)
        if old == text { return "" }
        if isSecret || summary != nil {
            return "\(old == nil ? "new" : "changed") file \(path) (\(summary ?? "not shown"))\n"
        }
        let new = try EditedFile(text)
        let words = [
            "diff", "-u", "--label", path, "--label", "\(path) (new)", old == nil ? "/dev/null" : path, new.path,
        ]
        guard let run = ProgramRun(words), run.status == 0 || run.status == 1 else { return "\(path):\n\(text)" }
        return run.output.split(separator: "\n", omittingEmptySubsequences: false).map(Self.masked).joined(
            separator: "\n")
    }

    /// A line without the password in it.
    static func masked(_ line: Substring) -> String {
        let key = "password:"
        var rest = line
        while !rest.isEmpty, !rest.hasPrefix(key) { rest = rest.dropFirst() }
        return rest.isEmpty ? String(line) : String(line[..<rest.startIndex]) + key + " ***"
    }

    /// The file that is replaced: what a link leads to, with all folders. (A link to a secret is none of ours.)
    private var target: String {
        if !isSecret, !isForService, !isForRoot, let found = realpath(path, nil) {
            defer { free(found) }
            return String(cString: found)
        }
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }

    /// Puts the bytes into the file that is there, which stands on its own mount and cannot be replaced (as in a container).
    /// What was written beside it stays until they are on the disk.
    private static func overwrite(_ path: String, _ bytes: [UInt8]) -> Bool {
        let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return false }
        defer { close(file) }
        return write(bytes, to: file) && fsync(file) == 0
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Writes it, with the folders above it; a file that is there keeps its owner and mode.
    func write() throws(CtlError) {
        let path = target
        func failed(_ what: String) -> CtlError {
            CtlError(
                status: .files,
                "cannot write \(what): \(String(cString: strerror(errno)))"
                    + (geteuid() == 0 ? "" : "; run it with sudo"))
        }
        var folder = ""
        for part in path.split(separator: "/").dropLast() {
            folder += "/\(part)"
            if mkdir(folder, 0o755) != 0, errno != EEXIST { throw failed(folder) }
        }
        let new = "\(path).new"
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            // The file alone is writable, on a mount of its own in a folder that is not (a container with a read-only root).
            guard errno == EROFS else { throw failed(new) }
            if Self.overwrite(path, Array(text.utf8)) { return }
            throw failed(path)
        }
        defer { close(file) }
        var facts = stat()
        if isForService {
            if geteuid() == 0, let user = getpwnam("seismote")?.pointee { _ = fchown(file, user.pw_uid, user.pw_gid) }
        } else if stat(path, &facts) == 0 {
            _ = fchown(file, facts.st_uid, facts.st_gid)
            _ = fchmod(file, facts.st_mode & 0o7777)
        } else if isForRoot {
            // As it was made.
        } else if isSecret {
            // The agent's group may read it, nobody else.
            if let group = getgrnam("seismote"), fchown(file, 0, group.pointee.gr_gid) == 0 { _ = fchmod(file, 0o640) }
        } else {
            _ = fchmod(file, 0o644)
        }
        let bytes = Array(text.utf8)
        guard Self.write(bytes, to: file), fsync(file) == 0 else { throw failed(new) }
        if rename(new, path) != 0 {
            guard errno == EBUSY, Self.overwrite(path, bytes) else { throw failed(path) }
            unlink(new)
        }
        // The new name is on the disk before anybody is told of what is in the file: a broker gives a certificate for one key.
        let home = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if home >= 0 {
            fsync(home)
            close(home)
        }
    }
}
