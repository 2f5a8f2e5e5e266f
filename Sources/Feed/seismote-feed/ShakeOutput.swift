import Feed
import Glibc
import Platform

/// Sends the datagrams of a Raspberry Shake: one program listens at each address, to one station.
final class ShakeOutput {
    private struct Listener {
        var packets = ShakePackets()
        var address: [UInt8]
    }

    private var listeners: [String: Listener] = [:]
    private var sockets: [Int32: Int32] = [:]
    private(set) var sent = 0

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
            listeners[id] = Listener(
                address: [UInt8](UnsafeRawBufferPointer(start: address, count: Int(first.ai_addrlen))))
        }
    }

    deinit { for descriptor in sockets.values where descriptor >= 0 { close(descriptor) } }

    var isOn: Bool { !listeners.isEmpty }

    /// The next samples of a channel of a station.
    func take(_ id: String, _ block: ChannelBlock) {
        guard let datagrams = listeners[id]?.packets.take(block, now: realNanoseconds()) else { return }
        for datagram in datagrams {
            let isSent = listeners[id]?.address.withUnsafeBytes { address -> Bool in
                guard let base = address.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    let descriptor = sockets[Int32(base.pointee.sa_family)]
                else { return false }
                return sendto(descriptor, datagram, datagram.count, 0, base, socklen_t(address.count)) == datagram.count
            }
            if isSent == true { sent += 1 }
        }
    }
}

struct ShakeError: Error {
    var message: String
}
