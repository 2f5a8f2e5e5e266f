import Administration
import Glibc
import Platform

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
        guard let input = ProgramStart.pipe() else { throw CourierError(message: "no pipe: \(Self.errorText(errno))") }
        defer { close(input[1]) }
        guard let told = ProgramStart.pipe() else {
            close(input[0])
            throw CourierError(message: "no pipe: \(Self.errorText(errno))")
        }
        _ = fcntl(told[0], F_SETFL, O_NONBLOCK)
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        // (Nothing of a user's own settings.)
        let environment = ["PATH=\(path)", "LC_ALL=C.UTF-8", "HOME=/"]
        let code = ProgramStart.start(
            name, command.arguments, files: [input[0], told[1], told[1]], environment: environment, isGroup: true,
            id: &id)
        for end in [input[0], told[1]] { close(end) }
        guard code == 0 else {
            close(told[0])
            throw CourierError(message: "\(name) cannot be started: \(Self.errorText(code))")
        }
        output = told[0]
        Self.give(command.input, to: input[1])
    }

    deinit {
        // (Also where it could not be started: process 0 would be all of our own group.)
        guard id > 0 else { return }
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

    /// (A pipe holds a whole message, 64 KiB, so that no write waits for the other end.)
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
