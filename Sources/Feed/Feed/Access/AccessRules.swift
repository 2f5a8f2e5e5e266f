import CCrypt
import Glibc
import Messages
import Values

/// Rules of access: everybody is served, or those who have an account, or an address that needs none.
public struct AccessRules: Sendable {
    /// Decision on a request of the web services.
    public enum Decision: Sendable, Equatable {
        case open
        /// With this status of HTTP, and these words.
        case refused(Int, String)
        /// When this is the password of that name.
        case check(user: String, password: String)
    }

    private let needsAccount: Bool
    private let withoutAccount: [AddressRange]
    private let proxies: [AddressRange]

    public init(_ settings: FeedSettings) {
        needsAccount = !settings.accounts.isEmpty
        withoutAccount = settings.withoutAccount.compactMap { AddressRange($0) }
        proxies = settings.proxies.compactMap { AddressRange($0) }
    }

    public func isProxy(_ peer: String) -> Bool { proxies.contains { $0.contains(peer) } }

    /// - Parameters:
    ///   - peer: address of the connection.
    ///   - forwarded: the header `X-Forwarded-For`.
    public func realAddress(peer: String, forwarded: String) -> String {
        RealAddress.of(peer: peer, forwarded: forwarded, trusted: proxies)
    }

    private func isFree(_ address: String) -> Bool {
        !needsAccount || withoutAccount.contains { $0.contains(address) }
    }

    private static let machine = [AddressRange("127.0.0.0/8"), AddressRange("::1")].compactMap { $0 }

    /// Passwords are taken where nobody else reads them: over TLS, on this machine, and from proxies, which have TLS.
    private func isPrivate(_ peer: String, _ isEncrypted: Bool) -> Bool {
        isEncrypted || isProxy(peer) || Self.machine.contains { $0.contains(peer) }
    }

    /// - Parameters:
    ///   - address: the client's.
    ///   - peer: of the connection; a proxy's where there is one.
    public func seedLink(_ address: String, peer: String, isEncrypted: Bool) -> SeedLinkSession.Access {
        if isFree(address) { return .open }
        return isPrivate(peer, isEncrypted) ? .account : .encryptedAccount
    }

    /// - Parameter authorization: the header of that name.
    public func web(_ address: String, peer: String, isEncrypted: Bool, authorization: String?) -> Decision {
        if isFree(address) { return .open }
        guard isPrivate(peer, isEncrypted) else {
            return .refused(403, "an account is needed, and passwords are taken over TLS only\n")
        }
        guard let authorization, let (user, password) = Self.basic(authorization) else {
            return .refused(401, "an account is needed\n")
        }
        return .check(user: user, password: password)
    }

    /// Name and password of RFC 7617.
    static func basic(_ header: String) -> (user: String, password: String)? {
        let words = header.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "basic", words[1].utf8.count <= 1000,
            let bytes = Base64.bytes(words[1].utf8, isStrict: true)
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }
}

/// Names and hashes of passwords, as Apache's `htpasswd` writes them: `name:hash`, one a line. Hashes of crypt(3) are
/// known: bcrypt (`htpasswd -B`), SHA-256 (`-2`) and SHA-512 (`-5`) with salt, yescrypt (`mkpasswd`).
public struct AccountFile: Sendable, Equatable {
    /// A line that cannot be used.
    public struct Problem: Error, Equatable {
        public var message: String
    }

    private static let known = ["$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$"]
    private static let mostLines = 10_000
    /// A hash that no password has, for names that there are not: their answer takes as long.
    private static let nobody = "$6$seismote$nobody"

    private var hashes: [String: String] = [:]

    public init(_ bytes: [UInt8]) throws(Problem) {
        // (Editors of Windows write a byte-order mark.)
        let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        let lines = String(decoding: text, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" })
        guard lines.count <= Self.mostLines else { throw Problem(message: "more than \(Self.mostLines) lines") }
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0 == " " || $0 == "\t" }
            if text.isEmpty || text.hasPrefix("#") { continue }
            guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
                throw Problem(message: "line \(index + 1) is not NAME:HASH")
            }
            let (name, hash) = (String(text[..<colon]), String(text[text.index(after: colon)...]))
            guard name.utf8.count <= 100, hash.utf8.count <= 200, Self.known.contains(where: hash.hasPrefix) else {
                throw Problem(
                    message:
                        "line \(index + 1): the hash of `\(name.prefix(40))` is not one of bcrypt, SHA-256 or SHA-512 with "
                        + "salt, or yescrypt; make it with `htpasswd -B`")
            }
            hashes[name] = hash
        }
    }

    public var count: Int { hashes.count }

    /// Whether this is the password of that name. It takes some hundredths of a second, as it is meant to.
    public func accepts(_ name: String, _ password: String) -> Bool {
        // (crypt(3) would end at a zero.)
        guard (1...200).contains(password.utf8.count), !password.utf8.contains(0) else { return false }
        let hash = hashes[name]
        guard let made = Self.hashed(password, like: hash ?? Self.nobody), let hash else { return false }
        // Constant-time comparison.
        let (a, b) = (Array(made.utf8), Array(hash.utf8))
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func hashed(_ password: String, like hash: String) -> String? {
        withUnsafeTemporaryAllocation(of: crypt_data.self, capacity: 1) { data in
            guard let place = data.baseAddress else { return nil }
            memset(place, 0, MemoryLayout<crypt_data>.size)
            guard let made = crypt_r(password, hash, place) else { return nil }
            let text = String(cString: made)
            // (What starts with a star says that it failed.)
            return text.hasPrefix("*") ? nil : text
        }
    }
}

/// Names and passwords that were right a short time ago, so that not each request waits for a hash. Of passwords it holds
/// numbers that are of no use elsewhere.
public struct RecentLogins: Sendable {
    private static let (seconds, most) = (300.0, 1000)
    private var until: [Int: Double] = [:]

    public init() {}

    private func key(_ name: String, _ password: String) -> Int {
        // (Swift's hash has a secret seed of the process.)
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(password)
        return hasher.finalize()
    }

    /// - Parameter now: monotonic seconds.
    public func knows(_ name: String, _ password: String, at now: Double) -> Bool {
        now < until[key(name, password)] ?? -.infinity
    }

    public mutating func add(_ name: String, _ password: String, at now: Double) {
        if until.count >= Self.most { until = until.filter { now < $0.value } }
        if until.count < Self.most { until[key(name, password)] = now + Self.seconds }
    }

    public mutating func forget() { until = [:] }
}
