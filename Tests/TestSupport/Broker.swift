import Foundation
import Platform

/// A real mosquitto on a free loopback port with a configuration and folder of its own; it ends with the value, and
/// with the test process.
public final class Broker: Sendable {
    public let port: Int
    public let folder: TemporaryFolder
    private let configuration: Mutex<String>
    private let process = Mutex<ChildProcess?>(nil)

    /// - Parameter configuration: more lines of mosquitto.conf; `%` stands for the broker's folder. Without an
    ///   `allow_anonymous` line anonymous clients are allowed.
    public init(_ configuration: String = "", files: [String: String] = [:], started: Bool = true) throws {
        folder = try TemporaryFolder()
        port = try FreePort.find()
        for (name, text) in files { try folder.write(name, text) }
        self.configuration = Mutex(configuration)
        if started { try start() }
    }

    /// Starts it, again on the same port, and waits until it answers.
    public func start() throws {
        let lines = configuration.withLock { $0 }.replacingOccurrences(of: "%", with: folder.url.path)
        let anonymous = lines.contains("allow_anonymous") ? "" : "allow_anonymous true\n"
        let file = try folder.write(
            "mosquitto.conf",
            "listener \(port) 127.0.0.1\nuser root\npersistence false\nset_tcp_nodelay true\n\(anonymous)\(lines)\n")
        let started = try ChildProcess("/usr/sbin/mosquitto", ["-c", file])
        guard eventually(within: 20, { !started.isRunning || Self.answers(port) }), started.isRunning else {
            throw TestFailure("mosquitto did not start: \(started.errors)")
        }
        process.withLock { $0 = started }
    }

    /// Reads its files of rights and passwords again; connections stay.
    public func reload() { process.withLock { $0?.signal(SIGHUP) } }

    /// Other configuration for the next start.
    public func reconfigure(_ lines: String) { configuration.withLock { $0 = lines } }

    /// As a power cut does it.
    public func kill() {
        process.withLock { process in
            process?.signal(SIGKILL)
            _ = process?.wait(within: 10)
            process = nil
        }
    }

    /// Hangs: connections stay open, nothing is answered.
    public func freeze() { process.withLock { $0?.signal(SIGSTOP) } }
    public func thaw() { process.withLock { $0?.signal(SIGCONT) } }

    public var log: String { process.withLock { $0?.errors ?? "" } }

    private static func answers(_ port: Int) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
