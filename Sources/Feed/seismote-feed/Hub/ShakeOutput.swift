import Feed
import Glibc

/// Sends the datagrams of a Raspberry Shake: one program listens at each address, to one station.
final class ShakeOutput {
    private struct Way {
        var packets = ShakePackets()
        var address: [UInt8]
    }

    private var ways: [String: Way] = [:]
    private var sockets: [Int32: Int32] = [:]
    private(set) var sent = 0
    private(set) var failed = 0

    /// - Parameter targets: addresses such as `192.168.1.20:8888` by the stations' ids.
    /// - Throws: a sentence about an address that there is not.
    init(_ targets: [String: HostAndPort]) throws(ShakeError) {
        for (id, target) in targets {
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
            var found: UnsafeMutablePointer<addrinfo>?
            let status = getaddrinfo(target.host, "\(target.port)", &hints, &found)
            defer { if let found { freeaddrinfo(found) } }
            guard status == 0, let first = found?.pointee, let address = first.ai_addr else {
                throw ShakeError(message: "feed.shake: \(target): \(String(cString: gai_strerror(status)))")
            }
            if sockets[first.ai_family] == nil {
                let flags = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
                sockets[first.ai_family] = socket(first.ai_family, flags, 0)
            }
            ways[id] = Way(address: [UInt8](UnsafeRawBufferPointer(start: address, count: Int(first.ai_addrlen))))
        }
    }

    deinit { for descriptor in sockets.values where descriptor >= 0 { close(descriptor) } }

    var isOn: Bool { !ways.isEmpty }

    /// The next samples of a channel of a station.
    func take(_ id: String, _ block: ChannelBlock) {
        guard let datagrams = ways[id]?.packets.take(block, now: realNanoseconds()) else { return }
        for datagram in datagrams {
            let isSent = ways[id]?.address.withUnsafeBytes { address -> Bool in
                guard let base = address.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    let descriptor = sockets[Int32(base.pointee.sa_family)]
                else { return false }
                return sendto(descriptor, datagram, datagram.count, 0, base, socklen_t(address.count)) == datagram.count
            }
            if isSent == true { sent += 1 } else { failed += 1 }
        }
    }
}

/// A host and a port, as `192.168.1.20:8888` or `[fd00::2]:8888`.
struct HostAndPort: Equatable, Sendable, CustomStringConvertible {
    var host: String
    var port: Int

    /// - Returns: nil for what is none.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        (self.host, self.port) = (String(host), port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

struct ShakeError: Error {
    var message: String
}
