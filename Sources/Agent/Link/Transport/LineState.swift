import Glibc

/// How far the bytes have come that the kernel was given.
struct LineState: Sendable, Equatable {
    /// Bytes that the peer's kernel has acknowledged in this connection.
    var acknowledged: UInt64
    /// Bytes that have not left for the first time, because the line takes no more at present.
    var waiting: UInt32
}

extension MosquittoTransport {
    /// Linux's `struct tcp_info`, which grows at its end only: acknowledged bytes at 120 (since 4.1), bytes not yet sent
    /// at 144 (since 4.6).
    var line: LineState? {
        let socket = socket
        guard socket >= 0 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
            var size = socklen_t(info.count)
            guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0, size >= 148
            else { return nil }
            return LineState(
                acknowledged: info.load(fromByteOffset: 120, as: UInt64.self),
                waiting: info.load(fromByteOffset: 144, as: UInt32.self))
        }
    }

    /// Why a connection ended whose error somebody else has taken (OpenSSL, with libmosquitto 2.0.11): one that was never
    /// there has measured no round trip (`tcpi_rtt` at 68), and was not refused where it asked again (`tcpi_total_retrans`
    /// at 100).
    var unnamedEnd: (words: String, byPeer: Bool) {
        let socket = socket
        return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
            var size = socklen_t(info.count)
            guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0, size >= 104,
                info.load(fromByteOffset: 68, as: UInt32.self) == 0
            else { return ("the connection was reset", true) }
            let isTimeout = info.load(fromByteOffset: 100, as: UInt32.self) > 0
            return (String(cString: strerror(isTimeout ? ETIMEDOUT : ECONNREFUSED)), false)
        }
    }
}
