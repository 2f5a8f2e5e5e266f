import Administration
import Glibc
import Values

/// The two authorities: that of the broker's certificate, and that of the stations'. Keys and signatures are `openssl`'s.
struct Authority {
    let place: Place

    // MARK: authorities

    var own: Certificate? { Disk.text("\(place.tls)/ca.pem").flatMap { Certificate(pem: $0) } }

    func fingerprint() throws(Failure) -> String { "SHA256:" + Fingerprint.of(try present().bytes) }

    private func present() throws(Failure) -> Certificate {
        guard let own else { throw Failure("there is no authority yet: sudo seismote-broker init") }
        return own
    }

    /// - Parameter path: without suffix.
    func makeAuthority(_ path: String, name: String) throws(Failure) {
        let secret = try OpenSSL.newKey()
        let key = try OpenSSL.publicKey(of: secret)
        try Disk.replace("\(path).key", secret, owner: .root)
        let issuer = Issuance.Issuer(name: Issuance.name(name), key: key, keyIdentifier: Issuance.identifier(of: key))
        let issue = Issuance(
            .authority, name: name, key: key, serial: newSerial(), by: issuer, now: wallSeconds(), days: 7300)
        try Disk.replace("\(path).pem", try OpenSSL.sign(issue, keyFile: "\(path).key"), mode: 0o644, owner: .root)
    }

    /// Files (without suffix) of the stations' authorities, the present one first.
    var clientAuthorities: [String] {
        ["\(place.clients)/ca"]
            + Disk.names(place.clients).filter { $0.hasPrefix("old-") && $0.hasSuffix(".pem") }
            .map { "\(place.clients)/\($0.dropLast(4))" }
    }

    /// Makes what is missing of the stations' authority. The broker looks for authorities in a folder, where it finds a second
    /// one without being started anew.
    func makeClients() throws(Failure) {
        try Disk.makeFolder(place.clients, mode: 0o755)
        try Disk.makeFolder("\(place.clients)/trusted", mode: 0o755)
        try Disk.makeFolder(place.invitations, mode: 0o750, owner: .enrolment)
        try takeNext()
        if !Disk.holds("\(place.clients)/ca.pem") {
            try makeAuthority("\(place.clients)/next", name: "Stations of \(Machine.name), \(wallSeconds())")
            try takeNext()
        }
        for path in clientAuthorities {
            guard let text = Disk.text("\(path).pem") else { continue }
            let target = "\(place.clients)/trusted/\(try OpenSSL.folderName(of: text))"
            if Disk.text(target) != text { try Disk.replace(target, text, mode: 0o644, owner: .root) }
        }
    }

    /// An authority that was made takes the place of the one before, also when the power fails in between.
    func takeNext() throws(Failure) {
        let (next, present) = ("\(place.clients)/next", "\(place.clients)/ca")
        guard Disk.holds("\(next).pem") else { return }
        if Disk.holds("\(next).key") {
            if let key = Disk.text("\(present).key"), let pem = Disk.text("\(present).pem") {
                let old = "\(place.clients)/old-\(wallSeconds())"
                try Disk.replace("\(old).key", key, owner: .root)
                try Disk.replace("\(old).pem", pem, mode: 0o644, owner: .root)
            }
            try Disk.move("\(next).key", "\(present).key")
        }
        try Disk.move("\(next).pem", "\(present).pem")
    }

    // MARK: the broker's certificate

    /// Names and addresses of this machine, for the certificate.
    func names(_ more: [String]) -> String {
        let noted = (Disk.text("\(place.tls)/names") ?? "").split(separator: "\n").map { line in
            String(line.drop { $0 != ":" }.dropFirst())
        }
        return ServerNames.list(
            given: more + noted, machine: [Machine.name, Machine.fullName], addresses: Machine.addresses)
    }

    func hasName(_ name: String) -> Bool {
        ServerNames.list((Disk.text("\(place.tls)/made-for") ?? "").filter { !$0.isNewline }, has: name)
    }

    /// With the authority behind it, so that a station finds there what the fingerprint names.
    func makeServer(_ more: [String]) throws(Failure) {
        let authority = try present()
        let names = names(more)
        let secret = try OpenSSL.newKey()
        let key = try OpenSSL.publicKey(of: secret)
        let issue = Issuance(
            .server(names.split(separator: ",").map(String.init)), name: "Seismote broker", key: key,
            serial: newSerial(), by: Issuance.Issuer(authority), now: wallSeconds(), days: 820)
        let certificate = try OpenSSL.sign(issue, keyFile: "\(place.tls)/ca.key")
        try Disk.replace("\(place.tls)/server.pem", certificate + (Disk.text("\(place.tls)/ca.pem") ?? ""), mode: 0o644)
        try Disk.replace("\(place.tls)/server.key", secret)
        try Disk.replace("\(place.tls)/made-for", names + "\n", owner: .root)
    }

    // MARK: the list of revoked certificates

    /// Writes it; each authority has a list of its own, and mosquitto takes nobody whose authority has none.
    func writeRevoked(_ revoked: [Revocation]) throws(Failure) {
        let before = RevocationList.all(in: Disk.text("\(place.clients)/crl.pem") ?? "")
        var lists = ""
        for path in clientAuthorities {
            guard let text = Disk.text("\(path).pem"), let certificate = Certificate(pem: text) else {
                throw Failure("\(path).pem holds no certificate that can be read")
            }
            let last = before.filter { $0.issuer == certificate.subject }.map(\.from).max()
            let issue = Issuance(
                revoked: revoked.map { ($0.serial, $0.time) }, by: Issuance.Issuer(certificate), after: last,
                now: wallSeconds())
            lists += try OpenSSL.sign(issue, keyFile: "\(path).key")
        }
        try Disk.replace("\(place.clients)/crl.pem", lists, mode: 0o644)
    }

    /// Fault of the broker's list.
    enum ListProblem {
        /// It lacks something that is revoked, or an authority has none.
        case incomplete
        /// It begins in the future, so that every station is refused.
        case future
    }

    func problemOfList(_ revoked: [Revocation]) -> ListProblem? {
        let lists = RevocationList.all(in: Disk.text("\(place.clients)/crl.pem") ?? "")
        let now = wallSeconds()
        if lists.contains(where: { $0.from > now }) { return .future }
        for path in clientAuthorities {
            guard let text = Disk.text("\(path).pem"), let certificate = Certificate(pem: text) else { continue }
            guard let list = lists.first(where: { $0.issuer == certificate.subject }), list.until > now else {
                return .incomplete
            }
            for one in revoked where !list.serials.contains(Self.short(one.serial)) { return .incomplete }
        }
        return nil
    }

    /// A serial number as a certificate has it, without zeros in front.
    private static func short(_ serial: String) -> String {
        Hexadecimal.text((Hexadecimal.bytes(serial.utf8) ?? []).drop { $0 == 0 })
    }
}

/// This machine.
enum Machine {
    static var name: String {
        var text = [CChar](repeating: 0, count: 256)
        guard gethostname(&text, 255) == 0 else { return "localhost" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static var fullName: String {
        let text = ChildProgram(["hostname", "-f"], seconds: 20).flatMap { $0.isDone ? $0.text : nil } ?? ""
        return text.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    }

    static var addresses: [String] {
        let text = ChildProgram(["hostname", "-I"], seconds: 20).flatMap { $0.isDone ? $0.text : nil } ?? ""
        return text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// The name by which others on the network find this machine.
    static var usual: String {
        if let host = Place().host { return host }
        if Systemd.isActive("avahi-daemon") { return "\(name.split(separator: ".").first ?? "").local" }
        let full = fullName
        return full.isEmpty ? name : full
    }
}
