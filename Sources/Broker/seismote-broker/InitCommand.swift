import Administration
import Glibc

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
