import Glibc

/// A socket in a service's folder on which another process asks how the service is: `--health` of the same program, as a
/// container runs it. The service's own loop answers, so a loop that hangs gives no answer.
///
/// For one thread.
public final class HealthSocket {
    /// Longest path that the kernel takes, in bytes.
    static let longestPath = 107

    private let path: String
    private let descriptor: Int32

    /// - Parameter folder: the state folder of the service, which has the lock that keeps a second one out.
    /// - Throws: a sentence; the service can do without.
    public init(folder: String) throws(HealthError) {
        path = Self.path(in: folder)
        guard var address = Self.address(path) else {
            throw HealthError("\(path): no socket for --health: the path is longer than \(Self.longestPath) bytes")
        }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let made = socket(AF_UNIX, type, 0)
        // (One of a run that was killed.)
        unlink(path)
        let mask = umask(0o177)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        let code = errno
        umask(mask)
        guard made >= 0, bound == 0, listen(made, 8) == 0 else {
            if made >= 0 { close(made) }
            throw HealthError("\(path): no socket for --health: \(String(cString: strerror(code)))")
        }
        descriptor = made
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Answers those who have asked since the last call; waits for nothing.
    /// - Parameters:
    ///   - isWell: whether the service does what it is there for.
    ///   - words: a sentence for people, made only when somebody has asked.
    public func answer(_ isWell: Bool, _ words: @autoclosure () -> String) {
        while true {
            let asker = accept(descriptor, nil, nil)
            if asker < 0, errno == EINTR { continue }
            guard asker >= 0 else { return }
            _ = fcntl(asker, F_SETFD, FD_CLOEXEC)
            let line = Array("\(isWell ? "well" : "ill") \(words())\n".utf8)
            _ = send(asker, line, line.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            close(asker)
        }
    }

    /// Answer of a service in another process about its health.
    public struct Answer: Equatable, Sendable {
        public var isWell: Bool
        public var words: String
    }

    /// Asks the service whose state folder this is.
    /// - Parameter milliseconds: how long its answer is waited for.
    public static func ask(folder: String, milliseconds: Int32) -> Answer {
        let path = path(in: folder)
        guard var address = address(path) else { return Answer(isWell: false, words: "the path \(path) is too long") }
        let asking = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { if asking >= 0 { close(asking) } }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(asking, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            return Answer(isWell: false, words: "it does not run: \(path): \(String(cString: strerror(errno)))")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        let end = HostClock.monotonic() + Int64(milliseconds) * 1_000_000
        while bytes.count < 4096 {
            let left = (end - HostClock.monotonic()) / 1_000_000
            var waited = pollfd(fd: asking, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&waited, 1, Int32(left)) > 0 else { break }
            let count = read(asking, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        let line = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        guard bytes.last == 0x0A, let space = line.firstIndex(of: " ") else {
            return Answer(isWell: false, words: "it gave no answer within \(milliseconds) ms")
        }
        return Answer(isWell: line[..<space] == "well", words: String(line[line.index(after: space)...]))
    }

    private static func path(in folder: String) -> String { "\(folder)/health.sock" }

    private static func address(_ path: String) -> sockaddr_un? {
        let bytes = Array(path.utf8)
        guard (1...longestPath).contains(bytes.count) else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }
}

/// A socket for ``HealthSocket`` that cannot be made.
public struct HealthError: Error, Sendable, CustomStringConvertible {
    /// A sentence with the path.
    public var description: String

    init(_ description: String) { self.description = description }
}
