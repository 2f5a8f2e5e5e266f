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

    /// Writes it, with the folders above it; a file that is there keeps its owner and mode.
    func write() throws(CtlError) {
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
        guard file >= 0 else { throw failed(new) }
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
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { throw failed(new) }
            done += count
        }
        guard fsync(file) == 0, rename(new, path) == 0 else { throw failed(path) }
        // The new name is on the disk before anybody is told of what is in the file: a broker gives a certificate for one key.
        let home = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if home >= 0 {
            fsync(home)
            close(home)
        }
    }
}
