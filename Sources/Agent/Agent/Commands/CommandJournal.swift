import Commands
import Glibc
import Messages
import Platform
import Settings

/// The file that remembers commands over restarts: a line for each step, at the end; written anew now and then.
struct CommandJournal {
    static let fileName = "commands.jsonl"
    /// Lines after which the file is written anew.
    private static let lineLimit = 512
    private static let byteLimit = 4 << 20

    private let directory: String
    private var file: Int32 = -1
    private var lines = 0
    private var bytes = 0
    /// Reason why nothing could be written the last time; nil: it could.
    private(set) var problem: String?

    private var path: String { "\(directory)/\(Self.fileName)" }

    init(directory: String) { self.directory = directory }

    /// Reads the journal of the agent before this one; nothing when there is no file or none that can be read.
    mutating func read() -> CommandMemory {
        let (bytes, isForeign) = Self.bytes(of: path)
        let memory = CommandMemory(lines: bytes.split(separator: UInt8(ascii: "\n")).map(Array.init))
        if !bytes.isEmpty || isForeign { rewrite(memory) }
        return memory
    }

    /// - Parameter isDurable: it has to be there after a power cut too.
    mutating func append(_ entry: CommandMemory.Entry, isDurable: Bool, _ memory: CommandMemory) {
        // After a failure there may be half a line at the end.
        if lines >= Self.lineLimit || bytes >= Self.byteLimit || problem != nil { return rewrite(memory) }
        open()
        guard file >= 0 else { return }
        let line = CommandMemory.line(entry)
        guard Self.write(line, to: file), !isDurable || fdatasync(file) == 0 else {
            fail()
            close()
            return
        }
        problem = nil
        lines += 1
        bytes += line.count
    }

    private mutating func open() {
        guard file < 0 else { return }
        _ = mkdir(directory, 0o755)
        let isNew = access(path, F_OK) != 0
        file = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        if file < 0 { fail() } else if isNew { Self.syncFolder(directory) }
    }

    private mutating func close() {
        if file >= 0 { Glibc.close(file) }
        file = -1
    }

    private mutating func fail() { problem = "\(path): \(String(cString: strerror(errno)))" }

    private mutating func rewrite(_ memory: CommandMemory) {
        close()
        let all = memory.entries.flatMap(CommandMemory.line)
        do throws(FileError) { try DurableFile(directory: directory, name: Self.fileName).write(all) } catch {
            problem = error.message
            return
        }
        (lines, bytes, problem) = (memory.entries.count, all.count, nil)
    }

    private static func syncFolder(_ directory: String) {
        let folder = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        Glibc.close(folder)
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        bytes.withUnsafeBytes { all in
            var rest = all[...]
            while !rest.isEmpty {
                let count = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// - Returns: `isForeign`: there is something, but no file of ours. Nothing is waited for then.
    private static func bytes(of path: String) -> (bytes: [UInt8], isForeign: Bool) {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return ([], errno == ELOOP) }
        defer { Glibc.close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return ([], true) }
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while all.count < 2 * byteLimit {
            let count = Glibc.read(file, &chunk, chunk.count)
            guard count > 0 else { break }
            all += chunk[..<count]
        }
        return (all, false)
    }
}

/// The way of remembered commands to their journal: steps are taken on the main thread, and written by the thread of the
/// disk, several at once when it is slow.
final class CommandRecord: Sendable {
    private struct Steps {
        var entries: [CommandMemory.Entry] = []
        var isDurable = false
        var memory = CommandMemory()
    }
    private let steps = Mutex(Steps())
    private let journal: Mutex<CommandJournal>

    init(_ journal: CommandJournal) { self.journal = Mutex(journal) }

    /// - Parameters:
    ///   - isDurable: it has to be there after a power cut too.
    ///   - memory: all that is remembered.
    /// - Returns: the number of the outcome.
    func append(
        _ entry: CommandMemory.Entry, isDurable: Bool, _ memory: CommandMemory, to writes: FileWrites
    ) -> Int {
        steps.withLock { steps in
            // (Not more than are remembered.)
            steps.entries.removeAll { $0.id == entry.id }
            steps.entries = steps.entries.suffix(CommandMemory.limit - 1) + [entry]
            steps.isDurable = steps.isDurable || isDurable
            steps.memory = memory
        }
        return writes.put(.commands) { self.write() }
    }

    /// - Returns: why not.
    private func write() -> String? {
        let steps = self.steps.withLock { steps in
            defer { (steps.entries, steps.isDurable) = ([], false) }
            return steps
        }
        return journal.withLock { journal in
            for (index, entry) in steps.entries.enumerated() {
                let isLast = index == steps.entries.count - 1
                journal.append(entry, isDurable: isLast && steps.isDurable, steps.memory)
            }
            return journal.problem
        }
    }
}

/// Commands and replies that wait for the disk, while the main thread goes on.
struct DiskWaits {
    struct Reply {
        /// Number of the write that it waits for.
        var number: Int
        var id: String?
        var bytes: [UInt8]
        var destination: ReplyDestination
    }

    /// A command that the disk does not take down in this time is not carried out (ns).
    static let patience: Int64 = 10_000_000_000

    /// Messages behind a command that waits; all that have come later stay in the inbox, which has its bounds.
    var arrived: ArraySlice<InboundMessage> = []
    /// A command that is carried out when the disk knows of it; those behind it wait.
    private(set) var begun: (request: CommandRequest, number: Int, deadline: Int64)?
    private(set) var replies: [Reply] = []
    /// A process that is to end does not wait longer for replies (monotonic, ns).
    private(set) var patienceEnds: Int64 = 0

    mutating func begin(_ request: CommandRequest, _ number: Int) {
        begun = (request, number, HostClock.monotonic() + Self.patience)
    }

    mutating func wait(_ reply: Reply) {
        replies.append(reply)
        patienceEnds = HostClock.monotonic() + 2_000_000_000
    }

    /// All that a write has let go.
    mutating func written(_ number: Int) -> (request: CommandRequest?, replies: [Reply]) {
        let free = Array(replies.prefix { $0.number <= number })
        replies.removeFirst(free.count)
        guard let one = begun, one.number <= number else { return (nil, free) }
        begun = nil
        return (one.request, free)
    }

    /// A command whose time is over.
    mutating func givenUp(now: Int64) -> CommandRequest? {
        guard let one = begun, now >= one.deadline else { return nil }
        begun = nil
        return one.request
    }
}
