import Administration
import Glibc
import Values

/// `add`, `password`, `remove`.
struct AccountCommands {
    let place: Place
    let options: Options

    func add(_ names: [String], isNew: Bool) throws(Failure) {
        guard names.count == 1 else { throw .misuse("which account?") }
        let name = names[0]
        if let problem = AccountName.problem(name) { throw .misuse(problem) }
        try AccountFiles.needsRoot(place, "add \(name)")
        // A name that the certificate has not yet is put into it.
        try InitCommand(place: place, options: options).makeWhatIsMissing()
        var files = try AccountFiles(place)
        let there = files.ledger.role(of: name)
        var watcher = ""
        if isNew, options.role == .station {
            watcher = options.viewer
            // A network that nobody can look at yet.
            if watcher.isEmpty, !options.isJSON, name != "viewer",
                !files.ledger.accounts.contains(where: { $0.role != Role.station.rawValue })
            {
                watcher = "viewer"
            }
            if watcher == name { throw .misuse("--viewer: another name than that of the station") }
            if !watcher.isEmpty, files.ledger.role(of: watcher) != nil {
                throw Failure("there is an account \(watcher) already: another --viewer")
            }
        }
        if isNew, let there {
            throw Failure(
                "there is an account \(name) (\(there)) already: seismote-broker password \(name) gives it a new password"
            )
        }
        if !isNew, there == nil { throw Failure("there is no account \(name): seismote-broker list") }
        let password = try password()
        var watching = ""
        try Removed(place: place).forget([name, watcher])
        try files.begin()
        files.setPassword(name, password)
        if isNew {
            files.ledger.add(Account(name: name, role: options.role.rawValue))
            if !watcher.isEmpty {
                watching = ReadableLetters.password(randomByte)
                files.setPassword(watcher, Array(watching.utf8))
                files.ledger.add(Account(name: watcher, role: Role.viewer.rawValue))
            }
        }
        try files.commit()
        let role = there.flatMap { Role(rawValue: $0) } ?? options.role
        try AccountNotice(
            name: name, role: role, password: String(decoding: password, as: UTF8.self),
            host: options.hosts.first ?? Machine.usual, mark: try Authority(place: place).fingerprint(),
            viewer: watcher.isEmpty ? nil : (watcher, watching), authority: "\(place.tls)/ca.pem"
        ).show(options)
    }

    private func password() throws(Failure) -> [UInt8] {
        guard let file = options.passwordFile else { return Array(ReadableLetters.password(randomByte).utf8) }
        let bytes: [UInt8]
        if file == "-" {
            bytes = Self.standardInput()
        } else {
            guard let read = Self.anyFile(file) else { throw Failure("the password file \(file) cannot be read") }
            bytes = read
        }
        switch PasswordHash.given(bytes) {
        case .success(let password): return password
        case .failure(let refusal): throw Failure(refusal.words)
        }
    }

    private static func standardInput() -> [UInt8] { rest(of: 0) }

    /// (A pipe, too, as shells make them of `<(…)`.)
    private static func anyFile(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return rest(of: file)
    }

    private static func rest(of file: Int32) -> [UInt8] {
        var (bytes, chunk): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4096))
        while bytes.count < 65_536, !bytes.contains(10) {
            let count = read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    func remove(_ names: [String]) throws(Failure) {
        guard !names.isEmpty else { throw .misuse("which account?") }
        for name in names { if let problem = AccountName.problem(name) { throw .misuse(problem) } }
        try AccountFiles.needsRoot(place, "remove \(names.joined(separator: " "))")
        var files = try AccountFiles(place)
        let unknown = names.filter { files.ledger.role(of: $0) == nil }
        guard unknown.isEmpty || files.wasUnfinished else {
            throw Failure("there is no account \(unknown[0]): seismote-broker list")
        }
        let mustRestart = try files.mendTimes()
        try files.begin()
        // First what it may, then what it is known by.
        let lost = Set(names).subtracting(unknown)
        try files.hold(lost)
        for name in lost {
            let hadCertificate = files.revoke(name, serials: nil)
            // (One that was revoked before may be connected still.)
            if hadCertificate || files.ledger.revoked.contains(where: { $0.name == name }) { files.end(name) }
        }
        files.ledger.remove(lost)
        try files.commit()
        if mustRestart { _ = Systemd.does("restart", BrokerUnit.name) }
        for name in names where lost.contains(name) {
            say("The account \(name) is gone. What the broker keeps of a station \(name) stays until it is emptied.")
        }
    }
}

/// Words about an account for the other side.
struct AccountNotice {
    let name: String
    let role: Role
    let password: String
    let host: String
    let mark: String
    let viewer: (name: String, password: String)?
    let authority: String

    func show(_ options: Options) throws(Failure) {
        let broker = "mqtts://\(host):\(Place.port)"
        let page = "https://\(host)\(Place().pagePort.map { ":\($0)" } ?? "")/"
        let line =
            role == .station
            ? "sudo seismote setup --broker \(broker) --ca-fingerprint \(mark) --user \(name) --password \(shellWord(password, plain: "@"))"
            : ""
        if options.isJSON {
            var members: [Value.Member] = [
                .init("name", .string(name)), .init("role", .string(role.rawValue)), .init("broker", .string(broker)),
                .init("fingerprint", .string(mark)), .init("password", .string(password)), .init("line", .string(line)),
                .init("page", .string(page)),
            ]
            if let viewer {
                members.append(
                    .init("viewer", ["name": .string(viewer.name), "password": .string(viewer.password)]))
            }
            return say(String(decoding: Value.object(members).json(), as: UTF8.self))
        }
        switch role {
        case .station:
            say("Account \(name) for a station. On its board:\n\n    \(line)\n")
            QRCode.show(line, options)
            if let viewer {
                say(
                    "To look at the page: open \(page) and sign in as \(viewer.name) with the password \(viewer.password)"
                )
            }
        case .homeAssistant:
            say(
                "Account \(name) for Home Assistant's MQTT integration: broker \(host), port \(Place.port), TLS with the certificate\n\(authority), user \(name), password \(password)"
            )
        case .network, .feed, .notify:
            say(
                "Account \(name) for seismote-\(role.rawValue): mqtt.uri \(broker), mqtt.tls.ca_file a copy of \(authority) that\neverybody may read, mqtt.username \(name), password \(password)"
            )
        case .viewer, .commander:
            say(
                "Account \(name), \(role.rawValue). Open \(page) and sign in as \(name) with the password \(password)\nThe browser asks once about the certificate; the fingerprint of its authority is\n    \(mark)"
            )
            QRCode.show(page, options)
        }
        say("The password is kept only as a hash: it is not shown again.")
    }
}

/// A code for a phone's camera, by the program `qrencode`.
enum QRCode {
    static func show(_ text: String, _ options: Options) {
        guard options.hasCode else { return }
        fflush(nil)
        // (By its input: arguments are seen by everyone.)
        guard let run = ChildProgram(["qrencode", "-t", "UTF8", "-l", "L", "-m", "1"], input: Array(text.utf8)),
            run.isDone
        else { return say("(A QR code of it needs: sudo apt install qrencode)") }
        print(run.text, terminator: "")
    }
}

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
