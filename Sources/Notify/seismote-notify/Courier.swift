import Glibc
import Notify
import Threads

/// A program that brings a message, while it runs. Many may run at once, so that a service that does not answer holds up
/// nobody else's messages. For one thread.
final class Courier {
    /// Seconds after which a program that does not end is killed.
    static let patience = 40

    private let name: String
    private let deadline: Int64
    private var id = pid_t()
    private var output: Int32 = -1
    private var said: [UInt8] = []
    private var isKilled = false

    /// Adds the folders to the path that are outside of a user's; before there are threads.
    static func preparePath() {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        setenv("PATH", "\(path):/usr/sbin:/sbin", 1)
    }

    /// Starts it.
    /// - Throws: a sentence.
    init(_ command: CourierCommand) throws(CourierError) {
        name = command.arguments[0]
        deadline = HostClock.monotonic() + Int64(Self.patience) * 1_000_000_000
        var (input, told): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        defer { for descriptor in [input[0], input[1], told[1]] where descriptor >= 0 { close(descriptor) } }
        guard Self.makePipe(&input), Self.makePipe(&told) else {
            if told[0] >= 0 { close(told[0]) }
            throw CourierError(message: "no pipe: \(Self.errorText(errno))")
        }
        output = told[0]
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, told[1], 1)
        posix_spawn_file_actions_adddup2(&actions, told[1], 2)
        // (This process ignores SIGPIPE, and what it ignores a child does, too.)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var arguments: [UnsafeMutablePointer<CChar>?] = command.arguments.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        // (Nothing of a user's own settings.)
        let words = ["PATH=\(path)", "LC_ALL=C.UTF-8", "HOME=/"]
        var environment: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for one in environment { free(one) } }
        let code = posix_spawnp(&id, name, &actions, &attributes, &arguments, &environment)
        guard code == 0 else {
            close(output)
            throw CourierError(message: "\(name) cannot be started: \(Self.errorText(code))")
        }
        close(input[0])
        input[0] = -1
        Self.give(command.input, to: input[1])
    }

    deinit {
        kill()
        while waitpid(id, nil, 0) < 0, errno == EINTR {}
        close(output)
    }

    /// - Returns: nil while it runs; then nil inside when it has ended well, else a sentence.
    func end() -> String?? {
        collect()
        var status: Int32 = 0
        let found = waitpid(id, &status, WNOHANG)
        if found == 0 {
            if HostClock.monotonic() >= deadline { kill() }
            return nil
        }
        collect()
        let words = String(decoding: said, as: UTF8.self)
        if isKilled { return .some("\(name) did not end within \(Self.patience) s") }
        if found > 0, status == 0 { return .some(nil) }
        let end = status & 0x7F == 0 ? "exit status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
        return .some("\(name): \(end)\(words.isEmpty ? "" : ": \(words)")")
    }

    private func kill() {
        guard !isKilled else { return }
        isKilled = true
        _ = Glibc.kill(-id, SIGKILL)
    }

    /// The first words of what it says.
    private func collect() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            if said.count < 300 { said += buffer[0..<min(count, 300 - said.count)] }
        }
    }

    /// Makes a pipe that holds a whole message (64 KiB), so that no write waits for the other end.
    private static func makePipe(_ ends: inout [Int32]) -> Bool {
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return true
    }

    private static func give(_ bytes: [UInt8], to descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            done += count
        }
    }

    private static func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
}

struct CourierError: Error {
    var message: String
}
