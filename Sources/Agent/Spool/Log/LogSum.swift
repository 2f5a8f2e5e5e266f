import Glibc

/// SQLite's sum over its log (sqlite.org/walformat.html), which goes on from frame to frame; for machines that count from
/// the lowest byte.
struct LogSum: Equatable {
    var a: UInt32
    var b: UInt32

    /// - Parameter count: of words; even.
    func adding(_ words: UnsafePointer<UInt32>, _ count: Int) -> LogSum {
        var (a, b) = (a, b)
        var index = 0
        while index < count {
            a = a &+ words[index] &+ b
            b = b &+ words[index &+ 1] &+ a
            index &+= 2
        }
        return LogSum(a: a, b: b)
    }

    /// Change of one of the last words that gives the wanted sum, where that changes a single byte. The sum is linear:
    /// a word counts with a factor that only depends on its place. Damage of another kind never looks like this; but
    /// the highest bits of a word count alike in many places.
    /// - Parameters:
    ///   - pairs: of words that were added last.
    ///   - word: the word of this number, counted from the end of them.
    /// - Returns: at most two.
    static func mend(
        _ wrong: LogSum, to right: LogSum, pairs: Int, word: (Int) -> UInt32
    ) -> [(back: Int, change: UInt32)] {
        let (da, db) = (right.a &- wrong.a, right.b &- wrong.b)
        var found: [(back: Int, change: UInt32)] = []
        // The factors of the second and the first word of a pair.
        var factors = [LogSum(a: 0, b: 1), LogSum(a: 1, b: 1)]
        for back in 0..<pairs * 2 where found.count < 2 {
            let factor = factors[back & 1]
            let change = factor.a & 1 == 1 ? da &* inverse(factor.a) : db &* inverse(factor.b)
            if change &* factor.a == da, change &* factor.b == db {
                let old = word(back)
                if (old ^ (old &+ change)).isOneByte { found.append((back, change)) }
            }
            factors[back & 1] = LogSum(a: factor.a &+ factor.b, b: factor.a &+ factor.b &+ factor.b)
        }
        return found
    }

    /// Inverse of an odd number.
    private static func inverse(_ number: UInt32) -> UInt32 {
        var inverse = number
        for _ in 0..<4 { inverse &*= 2 &- number &* inverse }
        return inverse
    }

    /// Whether two sums differ in a single byte.
    func isAlmost(_ other: LogSum) -> Bool { (UInt64(a ^ other.a) << 32 | UInt64(b ^ other.b)).isOneByte }
}

extension UnsignedInteger where Self: FixedWidthInteger {
    /// Whether all bits that are set are in the same byte, and there is one.
    fileprivate var isOneByte: Bool { self != 0 && self >> Self(trailingZeroBitCount & ~7) < 256 }
}

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
