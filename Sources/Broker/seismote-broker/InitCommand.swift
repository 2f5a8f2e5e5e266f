import Administration
import Glibc
import Values

/// `init`, `renew`, `new-authority`, `prepare`: authorities, and the broker's certificate.
struct InitCommand {
    let place: Place
    let options: Options

    /// Makes what is missing before somebody is told of the broker.
    func makeWhatIsMissing() throws(Failure) {
        let authority = Authority(place: place)
        let isNew = options.hosts.first.map { !authority.hasName($0) } ?? false
        if isNew || !Disk.holds("\(place.tls)/ca.pem") || !Disk.holds("\(place.clients)/ca.pem") { try run() }
    }

    func run() throws(Failure) {
        try AccountFiles.needsRoot(place, "init")
        guard OpenSSL.isInstalled, ChildProgram.path("mosquitto") != nil else {
            throw Failure("openssl and mosquitto are needed")
        }
        var files = try AccountFiles(place)
        let authority = files.authority
        try Disk.makeFolder(place.tls, mode: 0o755)
        try Removed(place: place).prepare()
        let new = options.hosts.filter { !authority.hasName($0) }
        if !new.isEmpty {
            let noted = Disk.text("\(place.tls)/names") ?? ""
            let lines = new.map { "DNS:\($0)\n" }.filter { !noted.contains($0) }
            try Disk.replace("\(place.tls)/names", noted + lines.joined(), owner: .root)
        }
        if !Disk.holds("\(place.tls)/ca.pem") {
            try authority.makeAuthority("\(place.tls)/ca", name: "Seismote authority of \(Machine.name)")
        }
        try authority.makeClients()
        let mustRestart = try files.mendTimes()
        let needsServer = !Disk.holds("\(place.tls)/server.pem") || !options.hosts.isEmpty
        if needsServer { try authority.makeServer(options.hosts) }
        if !Disk.holds("\(place.clients)/revoked") {
            try Disk.replace("\(place.clients)/revoked", files.ledger.revokedLines, owner: .enrolment)
        }
        // (What an earlier version has left is taken over as it is.)
        if needsServer || files.wasUnfinished || Disk.text(place.acl) != files.ledger.rights || mustRestart {
            try files.begin()
            try files.commit()
            if mustRestart { _ = Systemd.does("restart", BrokerUnit.name) }
        }
        if needsServer { Self.tellPage() }
    }

    private static func tellPage() {
        if Systemd.isActive("nginx") { _ = Systemd.does("reload", "nginx") }
    }

    func renew() throws(Failure) {
        try AccountFiles.needsRoot(place, "renew")
        guard Disk.holds("\(place.tls)/ca.pem") else {
            throw Failure("there is no authority yet: sudo seismote-broker init")
        }
        var files = try AccountFiles(place)
        let mustRestart = try files.mendTimes()
        let made = (Disk.text("\(place.tls)/made-for") ?? "").filter { !$0.isNewline }
        let server = Disk.text("\(place.tls)/server.pem").flatMap { Certificate(pem: $0) }
        let isGood = server.map { $0.until > wallSeconds() + 60 * 86_400 } ?? false
        let wasMended = server.map { wallSeconds() - $0.from < Issuance.margin + 120 } ?? false
        if options.isIfNeeded, !mustRestart, isGood, files.authority.names([]) == made, !wasMended || isServed(server) {
            return
        }
        if !options.isIfNeeded || !isGood || files.authority.names([]) != made { try files.authority.makeServer([]) }
        try files.begin()
        try files.commit()
        if mustRestart { _ = Systemd.does("restart", BrokerUnit.name) }
        Self.tellPage()
        let end = Disk.text("\(place.tls)/server.pem").flatMap { Certificate(pem: $0) }?.until ?? 0
        say(
            "A new certificate for \((Disk.text("\(place.tls)/made-for") ?? "").filter { !$0.isNewline }), until \(UTC.text(end))"
        )
    }

    /// Whether the broker has been told of its certificate: a change that was cut in between is told again.
    private func isServed(_ server: Certificate?) -> Bool {
        var facts = stat()
        guard stat("\(place.tls)/server.pem", &facts) == 0 else { return true }
        var told = stat()
        return stat(place.passwords, &told) == 0 && told.st_mtim.tv_sec >= facts.st_mtim.tv_sec
    }

    func newAuthority() throws(Failure) {
        try AccountFiles.needsRoot(place, "new-authority")
        guard Disk.holds("\(place.clients)/ca.pem") else {
            throw Failure("there is no authority yet: sudo seismote-broker init")
        }
        var files = try AccountFiles(place)
        try files.begin()
        try files.authority.makeAuthority(
            "\(place.clients)/next", name: "Stations of \(Machine.name), \(wallSeconds())")
        try files.authority.makeClients()
        try files.commit()
        // It gets the key anew.
        if Systemd.isActive("seismote-broker-enrol") { _ = Systemd.does("restart", "seismote-broker-enrol") }
        say(
            "Stations get certificates of the new authority from now on; the one before is taken until \(local(wallSeconds() + 100 * 86_400, "%F"))."
        )
    }

    /// Before the broker starts: what was cut is finished, and what begins in the future is made anew.
    func prepare() throws(Failure) {
        try AccountFiles.needsRoot(place, "prepare")
        guard Disk.holds("\(place.tls)/ca.pem") else { return try run() }
        // (Whoever is at work, and may be starting the broker again, has written the files.)
        guard var files = try? AccountFiles(place, seconds: 0) else { return }
        let wasUnfinished = files.wasUnfinished
        let mustRestart = try files.mendTimes()
        files.sayRevived()
        guard wasUnfinished || mustRestart || files.authority.problemOfList(files.ledger.revoked) != nil else { return }
        try files.begin()
        try files.commitBeforeStart()
    }
}

/// Names and addresses by which a machine is reached, for its certificate.
enum ServerNames {
    /// Each once, in the order of their letters, `DNS:name` or `IP:address`, with commas.
    /// - Parameters:
    ///   - given: names that somebody has given, which may be addresses, first.
    ///   - addresses: of the machine. (Not those of IPv6: some of them change every day.)
    static func list(given: [String], machine: [String], addresses: [String]) -> String {
        var names = given + ["localhost"]
        for name in machine where !name.isEmpty {
            names += [name, "\(name.split(separator: ".").first ?? "").local"]
        }
        var all = names.filter { !$0.isEmpty && $0 != ".local" }.map {
            (IPAddress.bytes($0) == nil ? "DNS:" : "IP:") + $0
        }
        all += ["IP:127.0.0.1", "IP:::1"] + addresses.filter { !$0.contains(":") && !$0.isEmpty }.map { "IP:\($0)" }
        func order(_ text: String) -> [UInt8] { text.utf8.map { $0.isSmallLetter ? $0 - 32 : $0 } }
        let sorted = all.sorted { order($0).lexicographicallyPrecedes(order($1)) }
        var unique: [String] = []
        for one in sorted where unique.last.map(order) != order(one) { unique.append(one) }
        return unique.joined(separator: ",")
    }

    /// Whether a list has this name or address, in capitals or not.
    static func list(_ list: String, has name: String) -> Bool {
        list.split(separator: ",").contains { entry in
            let text = entry.drop { $0 != ":" }.dropFirst()
            return text.lowercased() == name.lowercased()
        }
    }

    /// Whether a text may be a name or an address: letters, digits, dots, colons, `_` and `-`.
    static func isAllowed(_ name: String) -> Bool {
        name.isMade(1...253) { $0.isOfID || $0 == 0x2e || $0 == 0x3a }
    }
}
