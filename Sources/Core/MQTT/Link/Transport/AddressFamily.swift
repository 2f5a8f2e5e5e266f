import CLinux
import Glibc

/// Choice of a name's address for an attempt. libmosquitto resolves the name before each attempt, so it finds a broker that
/// has moved. But it takes the first address to which a connection can be begun. If that address fails later, such as IPv6
/// to a host that only answers IPv4, the others are never tried. After such an end the next attempt uses the other address
/// family, for a name that has both: a socket bound to any address of a family reaches no other.
struct AddressFamily {
    private var anyAddress: String?
    private var failedLate = false

    /// An attempt that had found an address to go to has failed.
    mutating func attemptFailed() { failedLate = true }

    /// The present choice is good.
    mutating func attemptSucceeded() { failedLate = false }

    /// Address that the next attempt's socket is bound to; nil: any family will do.
    mutating func choose(host: String) -> String? {
        if failedLate, Self.hasBoth(host) { anyAddress = anyAddress == "0.0.0.0" ? "::" : "0.0.0.0" }
        failedLate = false
        return anyAddress
    }

    private static func hasBoth(_ host: String) -> Bool {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return false }
        defer { freeaddrinfo(first) }
        var families: (four: Bool, six: Bool) = (false, false)
        var next = first
        while let entry = next {
            if entry.pointee.ai_family == AF_INET { families.four = true }
            if entry.pointee.ai_family == AF_INET6 { families.six = true }
            next = entry.pointee.ai_next
        }
        return families.four && families.six
    }
}
