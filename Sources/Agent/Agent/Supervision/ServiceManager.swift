import Glibc

/// Tells systemd how the service is, over the socket that it names in `NOTIFY_SOCKET` (sd_notify(3)); does nothing
/// where there is none.
final class ServiceManager {
    private let socket: Int32
    private let address: [UInt8]
    /// Nanoseconds between two signs of life: half of what systemd allows; nil when it wants none.
    let watchdogInterval: Int64?

    /// - Parameter environment: reads a variable of the environment.
    init(environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }) {
        address = environment("NOTIFY_SOCKET").flatMap(Self.address(of:)) ?? []
        socket = address.isEmpty ? -1 : Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        let process = environment("WATCHDOG_PID").flatMap { Int32($0) }
        let wanted = (1...Int64.max / 1000).contains(microseconds) && (process == nil || process == getpid())
        watchdogInterval = wanted ? microseconds * 1000 / 2 : nil
    }

    deinit { if socket >= 0 { close(socket) } }

    func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }
    func status(_ status: String) { send("STATUS=\(status)") }
    func alive() { send("WATCHDOG=1") }
    func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(HostClock.monotonic() / 1000)\nSTATUS=begins anew") }
    func stopping() { send("STOPPING=1\nSTATUS=stopping") }

    private func send(_ text: String) {
        guard socket >= 0 else { return }
        address.withUnsafeBytes { address in
            guard let start = address.baseAddress else { return }
            var text = text
            text.withUTF8 { bytes in
                _ = sendto(
                    socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT),
                    start.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
            }
        }
    }

    /// A `sockaddr_un` as bytes; a name that begins with `@` is an abstract one.
    private static func address(of path: String) -> [UInt8]? {
        var name = Array(path.utf8)
        guard (2...107).contains(name.count), name[0] == UInt8(ascii: "/") || name[0] == UInt8(ascii: "@") else {
            return nil
        }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 } else { name.append(0) }
        let family = sa_family_t(AF_UNIX)
        return withUnsafeBytes(of: family) { Array($0) } + name
    }
}
