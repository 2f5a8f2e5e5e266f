import Administration
import Values

/// A certificate that is good no more.
struct Revocation: Equatable, Sendable {
    var serial: String
    /// When it ends by itself, and when it was revoked, in seconds since 1970.
    var until: Int
    var time: Int
    var name: String

    init(serial: String, until: Int, time: Int, name: String) {
        (self.serial, self.until, self.time, self.name) = (serial, until, time, name)
    }

    /// Revocations that are kept however long ago their certificates have ended by the clock. It may be ahead by any time when
    /// somebody looks, and a certificate whose revocation is forgotten is good again when the clock is right.
    static let most = 2000
    /// Seconds that a revocation is kept after the certificate's end where there are more than that.
    static let kept = 5 * 365 * 86_400

    init?(line: String) {
        let fields = line.split(separator: " ").map(String.init)
        guard fields.count == 4, AccountName.isSerial(fields[0]), AccountName.isPlain(fields[3]),
            let until = Self.time(fields[1]), let time = Self.time(fields[2])
        else { return nil }
        self.init(serial: fields[0], until: until, time: time, name: fields[3])
    }

    var line: String { "\(serial) \(Self.text(until)) \(Self.text(time)) \(name)" }

    private static func time(_ text: String) -> Int? {
        guard text.hasSuffix("Z") else { return nil }
        let digits = String(text.dropLast())
        return digits.utf8.count == 12 ? UTC.seconds(short: digits) : UTC.seconds(digits)
    }

    private static func text(_ seconds: Int) -> String {
        let digits = UTC.digits(seconds)
        return (UTC.year(seconds) < 2050 ? String(digits.dropFirst(2)) : digits) + "Z"
    }
}

/// Invitation of a station, with its end in seconds since 1970.
struct Invitation: Equatable, Sendable {
    var name: String
    var end: Int

    init(name: String, end: Int) { (self.name, self.end) = (name, end) }

    init?(line: String) {
        let fields = line.split(whereSeparator: { $0 == " " || $0.isNewline })
        guard fields.count >= 2, AccountName.isPlain(String(fields[0])), let end = Int(fields[1]) else { return nil }
        self.init(name: String(fields[0]), end: end)
    }

    var line: String { "\(name) \(end)" }

    /// Hours that an invitation may be good at most.
    static let longest = 9999

    /// Whether its end is further away than any invitation's: a clock was ahead when it was made.
    func isFromFuture(_ now: Int) -> Bool { end > now + (Self.longest + 1) * 3600 }
}

/// An account of the list.
struct Account: Equatable, Sendable {
    var name: String
    /// As it is written; one that nobody knows has no rights.
    var role: String
}

/// All that the broker's files say of accounts, as one value. Names are bytes.
struct Ledger: Equatable, Sendable {
    /// In the order in which they were made.
    private(set) var accounts: [Account] = []
    private var places: [String: Int] = [:]
    /// Hashes of passwords by the name of the account.
    var hashes: [String: String] = [:]
    /// By their number.
    var invitations: [String: Invitation] = [:]
    var revoked: [Revocation] = []

    /// The account by which `seismote-broker` itself asks the broker for something. No account can have this name.
    static let control = "$control"
    /// The account of the service that gives certificates.
    static let service = "seismote-enrol"

    init() {}

    /// - Parameters: the content of the files; lines that nobody understands are left out.
    init(accounts: String, passwords: String, revoked: String, invitations: [String: Invitation]) {
        for line in accounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count == 2, AccountName.isPlain(String(fields[0])) {
                add(Account(name: String(fields[0]), role: String(fields[1])))
            }
        }
        for line in passwords.split(separator: "\n") {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { continue }
            hashes[String(line[..<colon])] = String(line[line.utf8.index(after: colon)...])
        }
        self.revoked = revoked.split(separator: "\n").compactMap { Revocation(line: String($0)) }
        self.invitations = invitations
    }

    func role(of name: String) -> String? { places[name].map { accounts[$0].role } }

    /// Adds an account; one of this name stays as it is.
    mutating func add(_ account: Account) {
        guard places[account.name] == nil else { return }
        places[account.name] = accounts.count
        accounts.append(account)
    }

    /// Takes accounts out of the list, with their passwords and invitations.
    mutating func remove(_ names: Set<String>) {
        accounts.removeAll { names.contains($0.name) }
        places = [:]
        for (place, account) in accounts.enumerated() { places[account.name] = place }
        for name in names { hashes[name] = nil }
        withdraw(names)
    }

    /// Takes back the invitations of names.
    mutating func withdraw(_ names: Set<String>) {
        for (id, invitation) in invitations where names.contains(invitation.name) { endInvitation(id) }
    }

    mutating func endInvitation(_ id: String) {
        hashes["enrol-\(id)"] = nil
        invitations[id] = nil
    }

    /// Notes that certificates are good no more.
    mutating func revoke(_ more: [Revocation], now: Int) {
        let known = Set(revoked.map(\.serial))
        revoked += more.filter { !known.contains($0.serial) }
        var tooMany = revoked.count - Revocation.most
        guard tooMany > 0 else { return }
        revoked.removeAll { one in
            guard tooMany > 0, one.until + Revocation.kept <= now else { return false }
            tooMany -= 1
            return true
        }
    }

    /// Finishes a change that was cut: the list of accounts says what is to be; whoever is not in it has nothing.
    mutating func finish() {
        for (id, invitation) in invitations
        where role(of: invitation.name) == nil || hashes["enrol-\(id)"] == nil { endInvitation(id) }
        for name in hashes.keys {
            if name.hasPrefix("enrol-") {
                if invitations[String(name.dropFirst(6))] == nil { hashes[name] = nil }
            } else if name != Self.control, role(of: name) == nil {
                hashes[name] = nil
            }
        }
    }

    // MARK: files

    var accountLines: String { accounts.map { "\($0.name) \($0.role)\n" }.joined() }

    var passwordLines: String {
        hashes.keys.sorted().map { "\($0):\(hashes[$0] ?? "")\n" }.joined()
    }

    var revokedLines: String { revoked.map { $0.line + "\n" }.joined() }

    /// Mosquitto's file of rights.
    var rights: String {
        var lines = [
            "# Made by seismote-broker from the list of accounts: what is changed here is lost.",
            "# Accounts that are not listed have no rights.",
        ]
        for account in accounts {
            lines += ["", "user \(account.name)"]
            lines += Role(rawValue: account.role)?.rights(of: account.name) ?? []
        }
        // Who was invited may ask for a certificate, and the service that gives it may read that.
        for id in invitations.keys.sorted() {
            lines += ["", "user enrol-\(id)", "topic write enrol/\(id)/csr", "topic read enrol/\(id)/cert"]
        }
        lines += ["", "user \(Self.service)"]
        lines += ["enrol/+/csr", "renew/+/csr", "renew/+/joined"].map { "topic read \($0)" }
        lines += ["enrol/+/cert", "renew/+/cert"].map { "topic write \($0)" }
        // Connections that are to end (mosquitto's plugin "dynamic security").
        lines += ["", "user \(Self.control)", "topic readwrite $CONTROL/dynamic-security/#"]
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Names of accounts. They are compared byte by byte: `07` and `7` are two accounts, `1e2` is not `100`.
enum AccountName {
    /// Bytes that a name may have at most.
    static let limit = 64

    /// Whether each byte of a text is one that names may have: letters, digits, `_` and `-`.
    static func isPlain(_ text: String) -> Bool { text.isMade(1...limit) { $0.isOfID } }

    /// Names the fault of a name; nil: none.
    static func problem(_ name: String) -> String? {
        func refused(_ why: String) -> String { "the name '\(printable(name))' is not allowed: \(why)" }
        guard isPlain(name) else { return refused("1 to 64 of letters A-Z a-z, digits, _ and -") }
        if name == "group" { return refused("this level of the topics is for groups of stations") }
        if name.hasPrefix("enrol-") || name == "seismote-enrol" {
            return refused("such accounts are for stations that join")
        }
        if name == "network" { return refused("this level of the topics is the network detector's") }
        return nil
    }

    /// Whether a text is the number of an invitation: eight letters and digits that are not taken for each other.
    static func isInvitation(_ text: String) -> Bool {
        text.isMade(8...8) { $0.isSmallLetter || (0x32...0x39).contains($0) }
    }

    /// Whether a text is a serial number as our certificates have it: 30 hexadecimal digits.
    static func isSerial(_ text: String) -> Bool {
        text.isMade(30...30) { $0.isDigit || (0x61...0x66).contains($0) }
    }

    /// The text without what could deceive the reader of a terminal.
    static func printable(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar.value {
            case 0..<0x20, 0x7f...0x9f, 0x061c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: shown += "?"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}

/// Kinds of accounts, with the topics that each may read and write.
enum Role: String, CaseIterable, Sendable {
    case station, viewer, commander
    case homeAssistant = "home-assistant"
    case network, feed, notify

    /// Lines of mosquitto's file of rights for an account of this kind.
    func rights(of name: String) -> [String] {
        func read(_ topics: String...) -> [String] { topics.map { "topic read \($0)" } }
        func write(_ topics: String...) -> [String] { topics.map { "topic write \($0)" } }
        switch self {
        case .station:
            let own = "seismote/\(name)"
            // (One after the other: Debian 13's Swift 6.0.3 gives up on their sum as one expression.)
            var lines = write("\(own)/state/#", "\(own)/event/#", "\(own)/data/#", "\(own)/res/#")
            // An event that a power cut has interrupted is closed from what the broker retains of it; what others
            // write on its own topics it corrects.
            lines += read("\(own)/event/current", "\(own)/event/last", "\(own)/state/#")
            // Its test messages come back to it: with MQTT 3.1.1 nothing else tells that they were taken.
            lines += read("\(own)/+/selfcheck", "\(own)/+/+/selfcheck")
            lines.append("topic readwrite \(own)/cmd/selfcheck")
            // (A warning before S, `alarm.network.enabled`, needs the network's events.)
            lines += read("\(own)/cmd/#", "seismote/group/+/cmd/#", "seismote/network/event", "homeassistant/status")
            lines.append("topic readwrite homeassistant/+/seismote-\(name)/#")
            lines += write("renew/\(name)/csr", "renew/\(name)/joined")
            lines += read("renew/\(name)/cert")
            return lines
        case .viewer:
            return read("seismote/+/state/#", "seismote/+/event/#", "seismote/+/data/#", "seismote/network/#")
        case .commander:
            return Self.all
                + write("seismote/+/cmd/+", "seismote/group/+/cmd/+")
                // Who has seen an event of the network, and where stations are.
                + write("seismote/network/note/+", "seismote/network/place/+")
        case .homeAssistant:
            return Self.all
                + write("seismote/+/cmd/+")
                + read("seismote/release", "homeassistant/#")
                + write("homeassistant/status")
        case .network:
            return read("seismote/+/event/#", "seismote/+/data/history/event/#", "seismote/+/state/#")
                + ["topic readwrite seismote/network/#"]
                + write(
                    "seismote/+/cmd/resend", "seismote/+/cmd/rebirth", "seismote/+/cmd/confirm-event",
                    "seismote/group/all/cmd/rebirth", "homeassistant/+/seismote-network/#")
        case .feed:
            return read("seismote/+/state/#", "seismote/+/event/#", "seismote/+/data/#", "seismote/+/res/#")
                + ["topic readwrite seismote/network/feed/#"]
                + write("seismote/+/cmd/snapshot", "seismote/+/cmd/rebirth")
        case .notify:
            return read(
                "seismote/+/event/trigger", "seismote/+/state/online", "seismote/+/state/alert/#",
                "seismote/network/event")
                + write("seismote/network/notify/#")
        }
    }

    private static let all = [
        "topic read seismote/+/state/#", "topic read seismote/+/event/#", "topic read seismote/+/data/#",
        "topic read seismote/+/res/#", "topic read seismote/network/#",
    ]
}
