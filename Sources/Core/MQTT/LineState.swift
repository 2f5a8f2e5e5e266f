import Glibc

/// How far the bytes have come that the kernel was given.
package struct LineState: Sendable, Equatable {
    /// Bytes that the peer's kernel has acknowledged in this connection.
    package var acknowledged: UInt64
    /// Bytes that have not left for the first time, because the line takes no more at present.
    package var waiting: UInt32

    package init(acknowledged: UInt64, waiting: UInt32) { (self.acknowledged, self.waiting) = (acknowledged, waiting) }

    /// Linux's `struct tcp_info`, which grows at its end only: acknowledged bytes at 120 (since 4.1), bytes not yet sent
    /// at 144 (since 4.6). Nil: the kernel does not say.
    init?(socket: Int32) {
        guard socket >= 0 else { return nil }
        let state: LineState? = Self.information(socket, bytes: 148) { info in
            LineState(
                acknowledged: info.load(fromByteOffset: 120, as: UInt64.self),
                waiting: info.load(fromByteOffset: 144, as: UInt32.self))
        }
        guard let state else { return nil }
        self = state
    }

    /// Why a connection ended whose error somebody else has taken (OpenSSL, with libmosquitto 2.0.11): one that was never
    /// there has measured no round trip (`tcpi_rtt` at 68), and was not refused where it asked again (`tcpi_total_retrans`
    /// at 100).
    static func unnamedEnd(of socket: Int32) -> (words: String, byPeer: Bool) {
        let number: Int32? = information(socket, bytes: 104) { info in
            guard info.load(fromByteOffset: 68, as: UInt32.self) == 0 else { return nil }
            return info.load(fromByteOffset: 100, as: UInt32.self) > 0 ? ETIMEDOUT : ECONNREFUSED
        }
        guard let number else { return ("the connection was reset", true) }
        return (String(cString: strerror(number)), false)
    }

    private static func information<R>(
        _ socket: Int32, bytes: Int, _ body: (UnsafeMutableRawBufferPointer) -> R?
    ) -> R? {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
            var size = socklen_t(info.count)
            guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0, size >= bytes
            else { return nil }
            return body(info)
        }
    }
}

/// Asks the kernel whether anybody listens on a port, where libmosquitto does not say why it could not connect.
enum PortProbe {
    /// Milliseconds that it waits for an address that does not answer.
    private static let patience: Int32 = 100

    /// - Returns: true when each address of the host refuses the connection; false in every other case.
    static func isRefused(host: String, port: Int) -> Bool {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let list else { return false }
        defer { freeaddrinfo(list) }
        var next: UnsafeMutablePointer<addrinfo>? = list
        while let one = next?.pointee {
            guard refuses(one) else { return false }
            next = one.ai_next
        }
        return true
    }

    private static func refuses(_ address: addrinfo) -> Bool {
        let file = socket(
            address.ai_family, address.ai_socktype | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        if Glibc.connect(file, address.ai_addr, address.ai_addrlen) == 0 { return false }
        guard errno == EINPROGRESS else { return errno == ECONNREFUSED }
        var event = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        guard poll(&event, 1, patience) == 1 else { return false }
        var (error, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == ECONNREFUSED
    }
}
