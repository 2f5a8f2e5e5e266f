import Client
import Glibc

/// A run of another program, found by PATH (and in /usr/sbin and /sbin), with a time limit.
struct ProgramRun {
    /// Exit status; nil: ended by a signal or by the time limit.
    var status: Int32?
    var output = ""
    var errors = ""

    /// Where it is; nil when it is not installed.
    static func path(_ name: String) -> String? {
        if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "") + ":/usr/bin:/usr/sbin:/sbin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// - Returns: nil when it is not installed or cannot be started.
    init?(_ words: [String], input: String = "", seconds: Double = 10) {
        guard let name = words.first, let program = Self.path(name) else { return nil }
        var pipes = [[Int32]](repeating: [-1, -1], count: 3)
        defer { for end in pipes.joined() where end >= 0 { close(end) } }
        for i in pipes.indices {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            pipes[i] = ends
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (i, end) in [pipes[0][0], pipes[1][1], pipes[2][1]].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, end, Int32(i))
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var id = pid_t()
        guard posix_spawn(&id, program, &actions, nil, &arguments, environ) == 0 else { return nil }
        // Small enough for the pipe: what it reads never waits for us.
        _ = signal(SIGPIPE, SIG_IGN)
        let bytes = Array(input.utf8.prefix(32_768))
        _ = write(pipes[0][1], bytes, bytes.count)
        for (i, end) in [(0, 0), (0, 1), (1, 1), (2, 1)] {
            close(pipes[i][end])
            pipes[i][end] = -1
        }
        let isWhole = read(from: pipes[1][0], pipes[2][0], until: monotonicSeconds() + seconds)
        if !isWhole { kill(id, SIGKILL) }
        var code: Int32 = 0
        while waitpid(id, &code, 0) < 0, errno == EINTR {}
        status = isWhole && code & 0x7f == 0 ? code >> 8 & 0xff : nil
    }

    /// Reads both to their ends; false when the time was over before.
    private mutating func read(from output: Int32, _ errors: Int32, until deadline: Double) -> Bool {
        var texts: [[UInt8]] = [[], []]
        var open = [output, errors]
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while open.contains(where: { $0 >= 0 }) {
            let left = deadline - monotonicSeconds()
            if left <= 0 || Interrupt.came { break }
            var watched = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&watched, 2, Int32(min(left, 0.5) * 1000)) > 0 else { continue }
            for i in 0..<2 where watched[i].revents != 0 {
                let count = Glibc.read(open[i], &chunk, chunk.count)
                if count > 0, texts[i].count < 1 << 20 { texts[i] += chunk[..<count] }
                if count == 0 || count < 0 && errno != EINTR { open[i] = -1 }
            }
        }
        self.output = String(decoding: texts[0], as: UTF8.self)
        self.errors = String(decoding: texts[1], as: UTF8.self)
        return open == [-1, -1]
    }

    /// Lines `KEY=VALUE` of the output.
    var properties: [String: String] {
        var found: [String: String] = [:]
        for line in output.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { found[String(parts[0])] = String(parts[1]) }
        }
        return found
    }
}

/// A text as one word of a command for a shell: what others have named may hold anything.
func shellWord(_ text: String) -> String {
    let isPlain =
        !text.isEmpty
        && text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2b, 0x2d, 0x2e, 0x2f, 0x3a, 0x5f: true
            default: false
            }
        }
    return isPlain
        ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
