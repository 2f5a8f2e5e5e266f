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
