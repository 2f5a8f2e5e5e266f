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
