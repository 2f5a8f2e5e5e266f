import Administration
import Glibc
import Values

/// `list` and `certificates`.
struct ListCommands {
    let place: Place
    let options: Options

    private func ledger(_ command: String) throws(Failure) -> Ledger {
        guard access(place.accounts, R_OK) == 0 else {
            throw Failure("\(place.accounts) cannot be read: sudo seismote-broker \(command)")
        }
        return AccountFiles.read(place)
    }

    /// Until when the newest certificate of each station is good, in seconds since 1970.
    private func certificates(_ ledger: Ledger) -> [String: Certificate] {
        let revoked = Set(ledger.revoked.map(\.serial))
        var newest: [String: Certificate] = [:]
        for account in ledger.accounts {
            newest[account.name] = place.certificates(of: account.name).map(\.certificate)
                .filter { !revoked.contains($0.serial) }.max { $0.until < $1.until }
        }
        return newest
    }

    func list() throws(Failure) {
        let ledger = try ledger("list")
        let ends = certificates(ledger)
        var invited: [String: Int] = [:]
        for one in ledger.invitations.values { invited[one.name] = max(one.end, invited[one.name] ?? 0) }
        var since: [String: Int] = [:]
        for one in BrokerUnit(place: place).connections() {
            since[one.account] = max(one.since, since[one.account] ?? 0)
        }
        func time(_ seconds: Int?) -> Value { seconds.map { .string(UTC.text($0)) } ?? .null }
        if options.isJSON {
            let all = ledger.accounts.map { account -> Value in
                [
                    "name": .string(account.name), "role": .string(account.role),
                    "password": .bool(ledger.hashes[account.name] != nil),
                    "certificate_until": time(ends[account.name]?.until),
                    "invited_until": time(invited[account.name]), "connected_since": time(since[account.name]),
                ]
            }
            return say(String(decoding: Value.array(all).json(), as: UTF8.self))
        }
        if ledger.accounts.isEmpty {
            say("No accounts yet: nobody can connect. seismote-broker invite, or seismote-broker add NAME")
        }
        for account in ledger.accounts.sorted(by: { $0.name < $1.name }) {
            var how: [String] = []
            if ledger.hashes[account.name] != nil { how.append("password") }
            if let end = ends[account.name]?.until { how.append("certificate until \(local(end, "%F"))") }
            if let end = invited[account.name] { how.append("invited until \(local(end, "%F %H:%M"))") }
            var columns = [
                (account.name, 24), (account.role, 14),
                (how.isEmpty ? "cannot sign in" : how.joined(separator: ", "), 32),
            ]
            columns.append((since[account.name].map { "connected since \(local($0, "%F %H:%M:%S"))" } ?? "", 0))
            say(Self.row(columns))
        }
        for line in Removed(place: place).revived(ledger) { note(line) }
    }

    func certificates() throws(Failure) {
        let ledger = try ledger("certificates")
        var all: [(name: String, certificate: Certificate)] = certificates(ledger).map { ($0.key, $0.value) }
        for (name, path) in [
            ("the broker", "\(place.tls)/server.pem"), ("the broker's authority", "\(place.tls)/ca.pem"),
            ("the stations' authority", "\(place.clients)/ca.pem"),
        ] {
            if let one = Disk.text(path).flatMap({ Certificate(pem: $0) }) { all.append((name, one)) }
        }
        all.sort { ($0.certificate.until, $0.name) < ($1.certificate.until, $1.name) }
        let now = wallSeconds()
        if options.isJSON {
            let told = all.map { one -> Value in
                [
                    "name": .string(one.name), "until": .string(UTC.text(one.certificate.until)),
                    "days": .int(Int64((one.certificate.until - now) / 86_400)),
                ]
            }
            return say(String(decoding: Value.array(told).json(), as: UTF8.self))
        }
        for (name, one) in all {
            let days = (one.until - now) / 86_400
            let left = one.until <= now ? "ENDED" : "\(days) days\(one.until - now < 21 * 86_400 ? ", ENDS SOON" : "")"
            let early = one.from > now ? ", BEGINS IN THE FUTURE: \(local(one.from, "%F"))" : ""
            say(Self.row([(name, 28), ("until \(local(one.until, "%F")), \(left)\(early)", 0)]))
        }
        for list in RevocationList.all(in: Disk.text("\(place.clients)/crl.pem") ?? "") where list.from > now {
            note(
                "The list of revoked certificates begins in the future, at \(UTC.text(list.from)): the broker refuses every station. sudo seismote-broker tidy makes it anew."
            )
        }
    }

    private static func row(_ columns: [(String, Int)]) -> String {
        var line = ""
        for (text, width) in columns {
            line += text + String(repeating: " ", count: max(0, width - text.unicodeScalars.count)) + " "
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}
