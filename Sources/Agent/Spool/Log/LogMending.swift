import Glibc

/// Finds damage inside SQLite's log before SQLite does, which would end the log there and overwrite what is behind.
enum LogMending {
    /// After a power cut the frames that had not reached the disk may be any: so many transactions behind a bad frame were
    /// perhaps never written. (There are some in the half minute that a system takes its time, and what is essential does
    /// not wait for it.)
    static let torn = 16

    /// Looks through the log of a database that nobody has open. When it is damaged it is put aside, and one that SQLite
    /// reads to the end takes its place.
    /// - Parameter isSameStart: the machine has not been started since it was written, so that nothing can be torn.
    /// - Returns: what was found; nil: nothing that a kill or a power cut does not leave behind.
    static func mend(_ path: String, isSameStart: Bool) throws(SpoolError) -> SetAsideFile? {
        let log = path + "-wal"
        guard let scan = LogScan(log) else { return nil }
        let isEmpty = scan.reach == 0
        guard
            scan.lostCommits > 0
                ? !scan.isTorn || isSameStart || scan.lostCommits > torn
                : isEmpty && !scan.isHeadWhole && isSameStart
        else {
            // What SQLite leaves standing behind its end would look like damage next time.
            if scan.end > scan.found { truncate(log, off_t(LogScan.headBytes + scan.found * LogScan.frameBytes)) }
            return nil
        }
        var reason = "the log was damaged and cannot be read"
        if !isEmpty {
            reason =
                "the log was damaged: \(scan.damaged) of \(scan.reach) frames, \(scan.unmendable) of them for good; "
                + "\(scan.lostCommits) transactions behind the first one were recovered"
            try write(scan, to: path + ".mended")
        }
        var aside = SetAsideFile(path: try SetAside.keepLog(path, stays: !isEmpty), reason: reason, kind: .log)
        aside.frames = scan.damaged
        if !isEmpty, rename(path + ".mended", log) != 0 { throw SpoolError(file: log, errno: errno) }
        SetAside.sync(folder: SetAside.folder(of: path))
        return aside
    }

    private static func write(_ scan: LogScan, to path: String) throws(SpoolError) {
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SpoolError(file: path, errno: errno) }
        defer { close(file) }
        guard scan.write(to: file) else { throw SpoolError(file: path, errno: errno) }
    }
}
