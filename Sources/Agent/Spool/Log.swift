import Glibc

/// Contents of SQLite's write-ahead log. SQLite ends the log at the first frame that is not as it was written. This
/// scan looks at the frames behind it, too: each goes on from the sum in the one before it.
final class LogScan {
    static let headBytes = 32
    static let frameBytes = 24 + Database.pageBytes
    /// 64 MB: many times what a log of ours can be.
    static let limit = 16_384

    /// For machines that count from the lowest byte; its version; the size of pages.
    private static let head: [UInt32] = [0x377f_0682, 3_007_000, UInt32(Database.pageBytes)]

    /// Not as it was written; as it was; can be made so; known to be wrong in a single byte, and not in which.
    enum State { case bad, whole, mended, wrong }

    private let file: Int32
    /// One frame: page, pages after a commit, salts, sum; then the page.
    private let buffer = UnsafeMutablePointer<UInt32>.allocate(capacity: LogScan.frameBytes / 4)
    /// Whole frames in the file, whatever they are.
    private let count: Int
    private(set) var states: [State] = []
    /// Which page a frame holds.
    private var pages: [Int] = []
    /// Corrections to add to the word at a place of a frame.
    private var changes: [Int: (word: Int, change: UInt32)] = [:]
    private(set) var salts: UInt64 = 0
    private var largestPage: UInt32 = 0
    private(set) var isHeadWhole = false

    /// Frames up to the last commit that SQLite finds, and up to the last one that there is.
    private(set) var found = 0
    private(set) var reach = 0
    /// Commits that SQLite does not find.
    private(set) var lostCommits = 0
    /// Frames of this log up to here, whole or not.
    private(set) var end = 0

    /// Nil: there is none, or nothing in it.
    convenience init?(_ path: String) {
        self.init(file: open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
    }

    /// Takes the descriptor over.
    init?(file: Int32) {
        self.file = file
        var status = stat()
        let size = file >= 0 && fstat(file, &status) == 0 ? Int(status.st_size) : 0
        count = min(Self.limit, (size - Self.headBytes) / Self.frameBytes)
        guard count > 0, pread(file, buffer, Self.headBytes, 0) == Self.headBytes else { return nil }
        var seed = readHead()
        var isIntact = isHeadWhole
        for index in 0..<count {
            guard read(index) else { break }
            seed = look(at: index, seed)
            pages.append(Int(number(0)))
            guard states[index] != .bad else {
                isIntact = false
                continue
            }
            if states[index] != .whole { isIntact = false }
            largestPage = max(largestPage, number(0), number(1))
            guard number(1) != 0 else { continue }
            reach = index + 1
            if isIntact { found = reach } else { lostCommits += 1 }
        }
    }

    deinit {
        buffer.deallocate()
        if file >= 0 { close(file) }
    }

    /// Frames that are not as they were written, of those that count.
    var damaged: Int { states.prefix(reach).count { $0 != .whole } + (isHeadWhole ? 0 : 1) }
    /// Frames among these that cannot be repaired; and those that may never have been written.
    var unmendable: Int { states.prefix(reach).count { $0 == .bad || $0 == .wrong } }
    var isTorn: Bool { states.prefix(reach).contains(.bad) }

    // MARK: Reading

    /// From the file's order of bytes.
    private func number(_ word: Int) -> UInt32 { UInt32(bigEndian: buffer[word]) }

    private func sum(_ word: Int) -> LogSum { LogSum(a: number(word), b: number(word + 1)) }

    private func salts(_ word: Int) -> UInt64 { UInt64(buffer[word]) << 32 | UInt64(buffer[word + 1]) }

    /// - Returns: the sum from which the first frame goes on.
    private func readHead() -> LogSum {
        let stored = sum(6)
        let computed = LogSum(a: 0, b: 0).adding(buffer, 6)
        salts = salts(4)
        isHeadWhole = stored == computed && (0..<3).allSatisfy { number($0) == Self.head[$0] }
        return !isHeadWhole && stored.isAlmost(computed) && goesOn(0, from: computed) ? computed : stored
    }

    private func read(_ index: Int) -> Bool {
        let offset = off_t(Self.headBytes + index * Self.frameBytes)
        return pread(file, buffer, Self.frameBytes, offset) == Self.frameBytes
    }

    /// Sum of the frame in the buffer.
    private func sum(from seed: LogSum) -> LogSum {
        seed.adding(buffer, 2).adding(buffer + 6, Database.pageBytes / 4)
    }

    /// Looks at the frame in the buffer, and leaves it there as it was meant.
    /// - Returns: the sum from which the next one goes on.
    private func look(at index: Int, _ seed: LogSum) -> LogSum {
        if index == 0, !isHeadWhole { salts = salts(2) }
        let isOurs = salts(2) == salts
        if isOurs { end = index + 1 }
        let stored = sum(4)
        let computed = sum(from: seed)
        // Behind a bad frame only what says that it is of this log: what an older one has left goes on from itself.
        if computed == stored, number(0) != 0, isOurs || index == 0 || states[index - 1] != .bad {
            states.append(isOurs ? .whole : .mended)
            return stored
        }
        guard isOurs else {
            states.append(.bad)
            return stored
        }
        let last = Self.frameBytes / 4 - 1
        func word(_ back: Int) -> Int { last - back < 6 ? last - back - 4 : last - back }
        let changes = LogSum.mend(computed, to: stored, pairs: last / 2 - 1) { buffer[word($0)] }
        defer { if states[index] == .mended { apply(index) } }
        // The next frame shows whether the sum is the right one.
        let isSumWrong = goesOn(index + 1, from: computed)
        let isSumRight = !isSumWrong && goesOn(index + 1, from: stored)
        _ = read(index)
        let candidates = changes.count + (!isSumRight && computed.isAlmost(stored) ? 1 : 0)
        if isSumWrong || candidates == 1 && changes.isEmpty {
            states.append(.mended)
            return computed
        }
        states.append(candidates == 0 ? .bad : candidates == 1 ? .mended : .wrong)
        if candidates == 1, let change = changes.first { self.changes[index] = (word(change.back), change.change) }
        return stored
    }

    private func goesOn(_ index: Int, from seed: LogSum) -> Bool {
        index < count && read(index) && sum(from: seed) == sum(4)
    }

    /// The last good frame of each page, up to the last commit.
    func newest() -> [Int: Int] {
        var newest: [Int: Int] = [:]
        for index in 0..<reach where states[index] == .whole || states[index] == .mended {
            newest[pages[index]] = index
        }
        return newest
    }

    /// The page that a frame holds.
    func page(of frame: Int) -> [UInt8]? {
        guard read(frame) else { return nil }
        apply(frame)
        return [UInt8](
            UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(start: buffer, count: Self.frameBytes)[24...]))
    }

    private func apply(_ index: Int) {
        guard let (word, change) = changes[index] else { return }
        buffer[word] &+= change
    }

    // MARK: Writing

    /// Whether a frame goes into the mended log. One that cannot be mended does as it is, when the next one shows that it
    /// is in its place: the page may have more than what is damaged, and the sums of its rows tell them apart.
    private func isWanted(_ index: Int) -> Bool {
        guard states[index] == .bad else { return true }
        return salts(2) == salts && (1...max(1, largestPage)).contains(number(0)) && states[index + 1] != .bad
    }

    /// Writes all that counts with sums that are right.
    func write(to output: Int32) -> Bool {
        func put(_ word: Int, _ numbers: [UInt32]) {
            for (place, number) in numbers.enumerated() { buffer[word + place] = number.bigEndian }
        }
        func put(salts word: Int) {
            (buffer[word], buffer[word + 1]) = (UInt32(salts >> 32), UInt32(truncatingIfNeeded: salts))
        }
        func write(_ count: Int) -> Bool { Glibc.write(output, buffer, count) == count }
        put(0, Self.head + [0])
        put(salts: 4)
        var sum = LogSum(a: 0, b: 0).adding(buffer, 6)
        put(6, [sum.a, sum.b])
        guard write(Self.headBytes) else { return false }
        for index in 0..<reach {
            guard read(index) else { return false }
            apply(index)
            guard isWanted(index) else { continue }
            sum = self.sum(from: sum)
            put(salts: 2)
            put(4, [sum.a, sum.b])
            guard write(Self.frameBytes) else { return false }
        }
        return fsync(output) == 0
    }
}

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
