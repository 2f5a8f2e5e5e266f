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
