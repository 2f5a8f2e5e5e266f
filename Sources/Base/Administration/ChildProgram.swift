import Glibc
import Platform
import Values

/// A run of another program with a list of arguments, found by PATH (and in /usr/sbin and /sbin). No shell is between.
package struct ChildProgram {
    /// Exit status; nil: ended by a signal or by the time limit.
    package private(set) var status: Int32?
    package private(set) var output: [UInt8] = []
    package private(set) var errors: [UInt8] = []

    package var text: String { String(decoding: output, as: UTF8.self) }
    package var errorText: String { String(decoding: errors, as: UTF8.self) }
    package var isDone: Bool { status == 0 }

    /// Bytes of output that are kept.
    private static let limit = 4 << 20

    package static func path(_ name: String) -> String? {
        if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "") + ":/usr/bin:/usr/sbin:/sbin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// - Parameters:
    ///   - words: the program, and its arguments.
    ///   - line: takes the output line by line; nothing of it is kept then.
    ///   - files: open files for its input, its output and its errors, in place of what is kept here; nil: as usual.
    ///   - isCancelled: is asked twice a second or more; the program is killed when it says so.
    /// - Returns: nil when it is not installed or cannot be started.
    @discardableResult
    package init?(
        _ words: [String], input: [UInt8] = [], seconds: Double = 30, line: ((String) -> Void)? = nil,
        files: (input: Int32?, output: Int32?, errors: Int32?) = (nil, nil, nil), isCancelled: () -> Bool = { false }
    ) {
        guard let name = words.first, let program = Self.path(name) else { return nil }
        var pipes = [[Int32]](repeating: [-1, -1], count: 3)
        defer { for end in pipes.joined() where end >= 0 { close(end) } }
        for i in pipes.indices {
            guard let ends = ProgramStart.pipe() else { return nil }
            pipes[i] = ends
        }
        var id = pid_t()
        let ends = [files.input ?? pipes[0][0], files.output ?? pipes[1][1], files.errors ?? pipes[2][1]]
        guard ProgramStart.start(program, words, files: ends, id: &id) == 0 else { return nil }
        _ = signal(SIGPIPE, SIG_IGN)
        for (i, end) in [(0, 0), (1, 1), (2, 1)] {
            close(pipes[i][end])
            pipes[i][end] = -1
        }
        _ = fcntl(pipes[0][1], F_SETFL, O_NONBLOCK)
        let deadline = Double(HostClock.monotonic()) / 1e9 + seconds
        var isWhole = exchange(&pipes, input, until: deadline, line, isCancelled)
        var code: Int32 = 0
        // (What it has started may hold files open when it has ended, and it may go on when it has closed them.)
        var delay: UInt32 = 100
        while isWhole {
            let ended = waitpid(id, &code, WNOHANG)
            if ended == id || ended < 0 && errno != EINTR { break }
            isWhole = Double(HostClock.monotonic()) / 1e9 < deadline && !isCancelled()
            usleep(delay)
            delay = min(delay * 2, 20_000)
        }
        if !isWhole {
            kill(id, SIGKILL)
            while waitpid(id, &code, 0) < 0, errno == EINTR {}
        }
        status = isWhole && code & 0x7f == 0 ? code >> 8 & 0xff : nil
    }

    /// Writes the input and reads both outputs to their ends; false when the time was over before, or it was cancelled.
    private mutating func exchange(
        _ pipes: inout [[Int32]], _ input: [UInt8], until deadline: Double, _ line: ((String) -> Void)?,
        _ isCancelled: () -> Bool
    ) -> Bool {
        var rest = input[...]
        var part: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        if rest.isEmpty { Self.end(&pipes[0][1]) }
        while pipes[1][0] >= 0 || pipes[2][0] >= 0 {
            let left = deadline - Double(HostClock.monotonic()) / 1e9
            if left <= 0 || isCancelled() { return false }
            var watched = [
                pollfd(fd: pipes[0][1], events: Int16(POLLOUT), revents: 0),
                pollfd(fd: pipes[1][0], events: Int16(POLLIN), revents: 0),
                pollfd(fd: pipes[2][0], events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&watched, 3, Int32(min(left, 0.5) * 1000) + 1) > 0 else { continue }
            if watched[0].revents != 0 {
                let count = rest.withUnsafeBytes { Glibc.write(pipes[0][1], $0.baseAddress, $0.count) }
                if count > 0 { rest = rest.dropFirst(count) }
                if rest.isEmpty || count < 0 && errno != EAGAIN && errno != EINTR { Self.end(&pipes[0][1]) }
            }
            for i in 1...2 where watched[i].revents != 0 {
                let count = Glibc.read(pipes[i][0], &chunk, chunk.count)
                if count > 0 {
                    if i == 2 {
                        if errors.count < Self.limit { errors += chunk[..<count] }
                    } else if let line {
                        part += chunk[..<count]
                        while let end = part.firstIndex(of: 10) {
                            line(String(decoding: part[..<end], as: UTF8.self))
                            part.removeSubrange(...end)
                        }
                    } else if output.count < Self.limit {
                        output += chunk[..<count]
                    }
                }
                if count == 0 || count < 0 && errno != EINTR { Self.end(&pipes[i][0]) }
            }
        }
        return true
    }

    private static func end(_ descriptor: inout Int32) {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}

/// The start of another program with a list of arguments. No shell is between.
package enum ProgramStart {
    /// A pipe that no other program inherits; nil: `errno` says why there is none.
    package static func pipe() -> [Int32]? {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    /// - Parameters:
    ///   - name: its path, or its name in PATH.
    ///   - words: its own name, and its arguments.
    ///   - files: its input, its output and its errors.
    ///   - environment: nil: ours.
    ///   - isGroup: whether a signal to -`id` goes to it and to all that it starts.
    /// - Returns: 0, or the code of the error.
    package static func start(
        _ name: String, _ words: [String], files: [Int32], environment given: [String]? = nil, isGroup: Bool = false,
        id: inout pid_t
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (i, file) in files.enumerated() { posix_spawn_file_actions_adddup2(&actions, file, Int32(i)) }
        // (What we ignore, such as SIGPIPE, others need.)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGTERM, SIGINT] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let group = isGroup ? POSIX_SPAWN_SETPGROUP : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = (given ?? []).map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        guard given != nil else { return posix_spawnp(&id, name, &actions, &attributes, &arguments, environ) }
        return posix_spawnp(&id, name, &actions, &attributes, &arguments, &environment)
    }
}

/// Units, where systemd runs.
package enum Systemd {
    package static var isThere: Bool { access("/run/systemd/system", F_OK) == 0 }

    package static func state(_ unit: String) -> String {
        guard isThere else { return "" }
        return ChildProgram(["systemctl", "is-active", unit])?.text.filter { !$0.isWhitespace } ?? ""
    }

    package static func isActive(_ unit: String) -> Bool { state(unit) == "active" }

    package static func property(_ name: String, of unit: String) -> String {
        ChildProgram(["systemctl", "show", "-p", name, "--value", "--timestamp=unix", unit])?
            .text.filter { !$0.isWhitespace } ?? ""
    }

    package static func does(_ verb: String, _ unit: String) -> Bool {
        ChildProgram(["systemctl", verb, unit], seconds: 120)?.isDone ?? false
    }
}

/// A text as one word of a command for a shell: what others have named may hold anything.
/// - Parameter others: signs that need no quotes either.
package func shellWord(_ text: String, plain others: String = "") -> String {
    let isPlain = text.isMade(1...(.max)) {
        $0.isAlphanumeric || "+-./:_".utf8.contains($0) || others.utf8.contains($0)
    }
    return isPlain
        ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

/// Reason why a command ends: exit status and words.
package struct Failure: Error {
    package var status = ExitStatus.fault
    package var words: String

    package init(_ words: String) { self.words = words }
}

/// Prints a line.
package func say(_ words: String) {
    print(words)
}

/// Prints a line for people, beside the output.
package func note(_ words: String) {
    fflush(nil)
    ProgramOutput.printError(words)
}

/// Seconds since 1970.
package func wallSeconds() -> Int { Int(HostClock.wall() / 1_000_000_000) }

package func pause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }
