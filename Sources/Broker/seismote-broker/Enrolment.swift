/// Note of the service of the certificates about an invitation: which key has it, and the serial number given to it.
struct Token: Equatable, Sendable {
    /// SHA-256 of the public key (PEM).
    var mark: String
    var serial: String
    var name: String
    /// Certificates that the station had when the board of this invitation joined; nil: it has not joined yet, or an earlier
    /// version has not noted them.
    var before: [String]?

    init(mark: String, serial: String, name: String, before: [String]? = nil) {
        (self.mark, self.serial, self.name, self.before) = (mark, serial, name, before)
    }

    init?(line: String) {
        let fields = line.split(whereSeparator: { $0 == " " || $0.isNewline }).map(String.init)
        guard fields.count >= 3, AccountName.isSerial(fields[1]), AccountName.isPlain(fields[2]) else { return nil }
        self.init(mark: fields[0], serial: fields[1], name: fields[2])
        if fields.count > 3, fields[3] == "before:" {
            before = fields[4...].filter { AccountName.isSerial($0) }
        }
    }

    var line: String {
        "\(mark) \(serial) \(name)" + (before.map { " before:" + $0.map { " " + $0 }.joined() } ?? "")
    }
}

/// Answers of the service, and reasons for none: pure decisions over what it has read.
enum Enrolment {
    /// Days that a station's certificate is good.
    static let days = 90
    /// Certificates of one station that are valid at the same time.
    static let certificateLimit = 20

    enum Answer: Equatable {
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
    static func enrol(
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
    static func renew(
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

/// Requests that wait for the service of the certificates. Of one sender the last request alone is kept; senders have their
/// turn one after the other; and each has a budget, so that nobody keeps the service from the others.
struct RequestQueue {
    enum Kind: String, Sendable { case enrol, renew, joined }

    struct Request: Equatable, Sendable {
        var kind: Kind
        /// The number of an invitation, or the name of a station.
        var sender: String
        /// Nil: it was larger than ``limit``.
        var payload: [UInt8]?
    }

    /// Bytes of a request. (One of P-256 has less than 600.)
    static let limit = 4096
    /// Requests of one sender that are answered at once, and how many in a second after that.
    static let burst = 5.0
    static let rate = 2.0
    /// Senders that are remembered.
    private static let sendersLimit = 20_000

    private struct Budget {
        var left: Double
        var at: Double
    }

    private var waiting: [String: Request] = [:]
    private var order: [String] = []
    private var budgets: [String: Budget] = [:]

    init() {}

    var isEmpty: Bool { order.isEmpty }

    /// Takes a message.
    mutating func put(topic: String, payload: [UInt8], size: Int) {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard levels.count == 3 else { return }
        let (sender, isWhole) = (levels[1], size <= Self.limit && payload.count == size)
        let request: Request
        switch (levels[0], levels[2]) {
        case ("enrol", "csr") where AccountName.isInvitation(sender):
            request = Request(kind: .enrol, sender: sender, payload: isWhole ? payload : nil)
        case ("renew", "csr") where AccountName.isPlain(sender):
            request = Request(kind: .renew, sender: sender, payload: isWhole ? payload : nil)
        case ("renew", "joined") where AccountName.isPlain(sender) && isWhole:
            request = Request(kind: .joined, sender: sender, payload: payload)
        default: return
        }
        if waiting.updateValue(request, forKey: topic) == nil { order.append(topic) }
    }

    /// The next request whose sender has a budget left.
    /// - Parameter now: monotonic seconds.
    mutating func take(now: Double) -> Request? {
        for place in order.indices {
            let topic = order[place]
            guard let request = waiting[topic] else { continue }
            var budget = budgets[topic] ?? Budget(left: Self.burst, at: now)
            budget.left = min(Self.burst, budget.left + max(0, now - budget.at) * Self.rate)
            budget.at = now
            if budget.left < 1 {
                budgets[topic] = budget
                continue
            }
            budget.left -= 1
            if budgets.count >= Self.sendersLimit {
                budgets = budgets.filter { now - $0.value.at < Self.burst / Self.rate }
            }
            budgets[topic] = budget
            order.remove(at: place)
            waiting[topic] = nil
            return request
        }
        return nil
    }
}
