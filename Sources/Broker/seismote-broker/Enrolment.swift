/// Note of the service of the certificates about an invitation: which key has it, and the serial number given to it.
package struct Token: Equatable, Sendable {
    /// SHA-256 of the public key (PEM).
    package var mark: String
    package var serial: String
    package var name: String
    /// Certificates that the station had when the board of this invitation joined; nil: it has not joined yet, or an earlier
    /// version has not noted them.
    package var before: [String]?

    package init(mark: String, serial: String, name: String, before: [String]? = nil) {
        (self.mark, self.serial, self.name, self.before) = (mark, serial, name, before)
    }

    package init?(line: String) {
        let fields = line.split(whereSeparator: { $0 == " " || $0.isNewline }).map(String.init)
        guard fields.count >= 3, AccountName.isSerial(fields[1]), AccountName.isPlain(fields[2]) else { return nil }
        self.init(mark: fields[0], serial: fields[1], name: fields[2])
        if fields.count > 3, fields[3] == "before:" {
            before = fields[4...].filter { AccountName.isSerial($0) }
        }
    }

    package var line: String {
        "\(mark) \(serial) \(name)" + (before.map { " before:" + $0.map { " " + $0 }.joined() } ?? "")
    }
}

/// Answers of the service, and reasons for none: pure decisions over what it has read.
package enum Enrolment {
    /// Days that a station's certificate is good.
    package static let days = 90
    /// Certificates of one station that are valid at the same time.
    static let certificateLimit = 20

    package enum Answer: Equatable {
        case refused(String)
        /// A certificate with this serial number is made, where it is not there yet.
        case give(serial: String)
        /// The same, and this is noted before.
        case bind(Token)
    }

    /// A board asks with the token of an invitation.
    /// - Parameters:
    ///   - invitation: nil: there is none of this number, or it was used.
    ///   - token: what was noted for it.
    ///   - now: seconds since 1970.
    ///   - serial: for a new certificate.
    package static func enrol(
        _ invitation: Invitation?, hasJoined: Bool, token: Token?, mark: String, now: Int, serial: String
    ) -> Answer {
        guard let invitation, !hasJoined else { return .refused("this invitation is not known, or it was used") }
        // The board that came first gets it again, as long as it has not said that it has it.
        if let token {
            return token.mark == mark
                ? .give(serial: token.serial) : .refused("this invitation was used by another board")
        }
        if now >= invitation.end || invitation.isFromFuture(now) { return .refused("this invitation has ended") }
        return .bind(Token(mark: mark, serial: serial, name: invitation.name))
    }

    /// A station asks with its certificate.
    /// - Parameters:
    ///   - own: the certificates that were given to it and are not revoked: serial number, end, mark of the key.
    ///   - isHeld: its certificates are being revoked.
    package static func renew(
        own: [(serial: String, until: Int, mark: String)], isHeld: Bool, mark: String, now: Int, serial: String
    ) -> Answer {
        // Who has an account with a password alone gets no certificate by it.
        if own.isEmpty { return .refused("this station has no certificate: it has to be invited") }
        // (By its certificate nobody can tell which of the two asks.)
        if isHeld {
            return .refused("what this station had before it joined is being revoked: ask again in a minute")
        }
        // The same request again.
        if let same = own.first(where: { $0.mark == mark && $0.until > now }) { return .give(serial: same.serial) }
        if own.count(where: { $0.until > now }) >= certificateLimit {
            return .refused("this station has \(certificateLimit) certificates that are valid")
        }
        return .give(serial: serial)
    }
}
