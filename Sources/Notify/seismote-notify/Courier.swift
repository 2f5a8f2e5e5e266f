import Administration
import Glibc
import Messages
import Platform
import Values

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

/// The program that brings a message to its recipient, and what it is given. No secret is among the arguments, which every
/// user of a machine can read.
struct CourierCommand: Sendable, Equatable {
    /// The program, by its name, and its arguments.
    var arguments: [String]
    /// Written to its standard input.
    var input: [UInt8]

    /// - Parameter token: for ntfy; empty: none.
    init(_ delivery: Notice, to service: Recipient.Service, token: String) {
        switch service {
        case .ntfy(let base, let topic, let updates):
            arguments = ["curl", "-q", "--silent", "--show-error", "--fail", "--max-time", "20", "--config", "-"]
            var members: [Value.Member] = [
                .init("topic", .string(topic)), .init("title", .string(delivery.title)),
                .init("message", .string(delivery.text.isEmpty ? delivery.title : delivery.text)),
                .init("priority", .int(Int64(delivery.priority.rawValue))),
            ]
            if updates { members.append(.init("sequence_id", .string(Self.identifier(delivery.key)))) }
            if !delivery.click.isEmpty { members.append(.init("click", .string(delivery.click))) }
            var lines = ["url = \(Self.quoted(base + "/"))", "header = \"Content-Type: application/json\""]
            if !token.isEmpty { lines.append("header = \(Self.quoted("Authorization: Bearer \(token)"))") }
            lines.append("data-raw = \(Self.quoted(String(decoding: Value.object(members).json(), as: UTF8.self)))")
            input = Array((lines.joined(separator: "\n") + "\n").utf8)
        case .apprise(let file):
            let type = delivery.priority.rawValue >= Notice.Priority.high.rawValue ? "warning" : "info"
            arguments = ["apprise", "--title", delivery.title, "--notification-type", type, "--config", file]
            input = Array(Self.withLink(delivery).utf8)
        case .mail(let address):
            arguments = ["sendmail", "-i", "-t"]
            var head = "To: \(address)\nSubject: \(Self.subject(delivery.title))\nAuto-Submitted: auto-generated\n"
            if delivery.priority == .urgent { head += "Importance: high\n" }
            head += "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
            input = Array((head + Self.withLink(delivery) + "\n").utf8)
        }
    }

    private static func withLink(_ delivery: Notice) -> String {
        let text = delivery.text.isEmpty ? delivery.title : delivery.text
        return delivery.click.isEmpty ? text : "\(text)\n\(delivery.click)"
    }

    /// As curl reads a value of its configuration file.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(character)
            }
        }
        return result + "\""
    }

    /// The same for all editions of a message, without a name in it.
    private static func identifier(_ key: String) -> String {
        var hash = FNV1a()
        hash.add(key)
        return "seismote-\(String(hash.value, radix: 16))"
    }

    /// A subject of a mail (RFC 2047 where it is not ASCII).
    private static func subject(_ title: String) -> String {
        if title.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return title }
        return "=?utf-8?q?"
            + title.utf8.map { byte in
                if byte.isAlphanumeric { return String(UnicodeScalar(byte)) }
                return "=" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined() + "?="
    }
}
