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
