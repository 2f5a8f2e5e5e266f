import Values

/// How many may be connected: all together, from one address, and how many places nobody but clients of the web services
/// may take.
public struct Places: Sendable {
    private let all: Int
    private let ofAddress: Int
    private let forWeb: Int
    private var streams = 0
    private var web = 0
    private var perAddress: [String: Int] = [:]

    /// - Parameters:
    ///   - all: connections at once.
    ///   - ofAddress: of them from one address.
    ///   - forWeb: places that are kept for the web services, at most half of all.
    public init(all: Int, ofAddress: Int, forWeb: Int) {
        (self.all, self.ofAddress, self.forWeb) = (all, ofAddress, min(all / 2, forWeb))
    }

    public var taken: Int { streams + web }

    /// - Parameter isProxy: the address stands for many.
    /// - Returns: false where there is no place.
    public mutating func take(_ address: String, isWeb: Bool, isProxy: Bool = false) -> Bool {
        guard taken < all, isWeb || streams < all - forWeb,
            isProxy || perAddress[address, default: 0] < ofAddress
        else {
            return false
        }
        if isWeb { web += 1 } else { streams += 1 }
        perAddress[address, default: 0] += 1
        return true
    }

    public mutating func give(_ address: String, isWeb: Bool) {
        if isWeb { web -= 1 } else { streams -= 1 }
        perAddress[address, default: 1] -= 1
        if perAddress[address] == 0 { perAddress[address] = nil }
    }
}

/// The largest number of the last seconds, within a twelfth of them.
public struct RecentMaximum: Sendable {
    private let seconds: Double
    /// Parts of that time: when each began, and its largest number.
    private var parts: [(begin: Double, largest: Double)] = []

    public init(seconds: Double) { self.seconds = seconds }

    /// - Parameter now: monotonic seconds.
    public mutating func add(_ number: Double, at now: Double) {
        if let last = parts.last, now - last.begin < seconds / 12 {
            parts[parts.count - 1].largest = max(last.largest, number)
        } else {
            parts.removeAll { now - $0.begin > seconds }
            parts.append((now, number))
        }
    }

    public func maximum(at now: Double) -> Double {
        parts.lazy.filter { now - $0.begin <= seconds }.map(\.largest).max() ?? 0
    }
}

/// Addresses of the internet that begin in the same way: `192.168.1.0/24`, `fd00::/8`, or one address.
public struct AddressRange: Sendable, Equatable {
    private let bytes: [UInt8]
    private let bits: Int

    /// - Returns: nil for what is none.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let bytes = Self.bytes(String(parts[0])) else { return nil }
        var bits = bytes.count * 8
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...bits).contains(given) else { return nil }
            bits = given
        }
        (self.bytes, self.bits) = (bytes, bits)
    }

    public func contains(_ address: String) -> Bool {
        guard let other = Self.bytes(address), other.count == bytes.count else { return false }
        for index in 0..<bytes.count {
            let here = min(8, max(0, bits - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> here)
            if (bytes[index] ^ other[index]) & mask != 0 { return false }
        }
        return true
    }

    /// Four bytes, or sixteen; an IPv4 address in the form of IPv6 (`::ffff:1.2.3.4`) has four.
    private static func bytes(_ text: String) -> [UInt8]? {
        guard let bytes = IPAddress.bytes(text) else { return nil }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }

    static func isAddress(_ text: String) -> Bool { bytes(text) != nil }
}

/// Address of a client behind a proxy: only trusted proxies are believed.
public enum RealAddress {
    private static let mostHops = 20

    /// - Parameters:
    ///   - peer: address of the connection.
    ///   - forwarded: `X-Forwarded-For`, the nearest proxy's entry last; several headers joined with commas.
    /// - Returns: the last address in it that is not a trusted proxy's; the peer's where it is not trusted itself.
    public static func of(peer: String, forwarded: String, trusted: [AddressRange]) -> String {
        func isTrusted(_ address: String) -> Bool { trusted.contains { $0.contains(address) } }
        var address = peer
        for word in forwarded.split(separator: ",").reversed().prefix(mostHops) {
            guard isTrusted(address) else { return address }
            let next = String(word.filter { $0 != " " && $0 != "\t" })
            guard AddressRange.isAddress(next) else { return address }
            address = next
        }
        return address
    }

    /// Line of the PROXY protocol, version 1: `PROXY TCP4 203.0.113.9 10.0.0.1 51000 18000`.
    public enum ProxyLine: Equatable, Sendable {
        /// It is not whole yet.
        case partial
        /// There is none: the bytes are the client's.
        case none
        /// Its length with the end of the line, and the client's address; nil: the proxy does not say.
        case line(length: Int, address: String?)
    }

    /// - Parameter bytes: the first that came.
    public static func proxyLine(_ bytes: [UInt8]) -> ProxyLine {
        let start = Array("PROXY ".utf8)
        guard bytes.prefix(start.count).elementsEqual(start.prefix(bytes.count)) else { return .none }
        guard let end = bytes.prefix(108).firstIndex(of: 0x0A) else { return bytes.count < 108 ? .partial : .none }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\r" })
        guard words.count >= 3, words[1] == "TCP4" || words[1] == "TCP6", AddressRange.isAddress(String(words[2]))
        else {
            return .line(length: end + 1, address: nil)
        }
        return .line(length: end + 1, address: String(words[2]))
    }
}
