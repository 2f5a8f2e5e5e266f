import Glibc

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
