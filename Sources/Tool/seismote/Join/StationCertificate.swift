import Glibc
import Messages
import Settings
import Values

/// The certificate that a station shows its broker, with its key in the same file: so that both are replaced in one step, and
/// an agent that reads them at a reconnect never has one without the other.
struct StationCertificate {
    /// `certificate` beside the settings file, for the service's user alone.
    let folder: String
    var file: String { "\(folder)/station.pem" }
    /// The authorities that the broker's certificate may be of.
    var authorities: String { "\(folder)/broker-ca.pem" }
    /// The key of a renewal that has not ended yet.
    var next: String { "\(folder)/next.pem" }

    /// - Parameter home: folder of the settings file.
    init(home: String) { folder = "\(home)/certificate" }

    func prepare() throws(CtlError) { try Self.makeFolder(folder) }

    /// Makes a folder for the service's user alone, with the one above it.
    static func makeFolder(_ folder: String) throws(CtlError) {
        let home = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
        for path in [home, folder] where mkdir(path, path == folder ? 0o700 : 0o755) != 0 && errno != EEXIST {
            throw CtlError(
                status: .files,
                "cannot make \(path): \(String(cString: strerror(errno)))\(geteuid() == 0 ? "" : "; run it with sudo")")
        }
        if geteuid() == 0, let user = getpwnam("seismote")?.pointee { _ = chown(folder, user.pw_uid, user.pw_gid) }
    }

    /// Puts key and certificate in their place, in one step.
    func install(key: String, certificate: String, authorities: String) throws(CtlError) {
        try prepare()
        if !authorities.isEmpty {
            try FileChange(path: self.authorities, text: authorities, isForService: true).write()
        }
        try FileChange(path: file, text: certificate + key, isForService: true).write()
    }

    // MARK: keys and requests, by openssl

    /// A new private key of the curve P-256 (PEM).
    static func newKey() throws(CtlError) -> String {
        let words = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        guard let run = ProgramRun(words, seconds: 60) else {
            throw CtlError(status: .refused, "openssl is not installed: sudo apt install openssl")
        }
        guard run.status == 0, run.output.hasPrefix("-----BEGIN") else {
            throw CtlError(status: .refused, "openssl could not make a key: \(safe(run.errors, limit: 300))")
        }
        return run.output
    }

    /// A certificate request (PKCS #10, PEM) for a name.
    /// - Parameter keyFile: path of the private key.
    static func request(keyFile: String, name: String) throws(CtlError) -> String {
        let words = ["openssl", "req", "-new", "-key", keyFile, "-subj", "/CN=\(name)", "-sha256"]
        guard let run = ProgramRun(words, seconds: 60), run.status == 0 else {
            throw CtlError(status: .refused, "openssl could not make a certificate request with \(keyFile)")
        }
        return run.output
    }

    /// As that which comes to another board with the same line.
    static let isForAnotherKey = "it is for another key"

    /// Fault of a certificate for this key and name; nil: it is theirs.
    static func problem(_ certificate: String, keyFile: String, name: String) -> String? {
        let shown = ProgramRun(
            ["openssl", "x509", "-noout", "-subject", "-nameopt", "RFC2253", "-pubkey"], input: certificate)
        let own = ProgramRun(["openssl", "pkey", "-in", keyFile, "-pubout"])
        guard let shown, let own, shown.status == 0, own.status == 0 else { return "openssl cannot read it" }
        var lines = shown.output.split(separator: "\n").map(String.init)
        guard let subject = lines.firstIndex(where: { $0.hasPrefix("subject=") }) else { return "it has no subject" }
        if lines.remove(at: subject) != "subject=CN=\(name)" { return "it is for another name than \(name)" }
        return lines == own.output.split(separator: "\n").map(String.init) ? nil : isForAnotherKey
    }

    /// Whether a certificate is to be renewed: two thirds of its life are over.
    /// - Parameters: nanoseconds since 1970.
    static func isDue(from: Int64, until: Int64, now: Int64) -> Bool { now >= from + (until - from) / 3 * 2 }
}

/// Answer of the service `seismote-broker enrol`.
enum EnrolmentAnswer: Equatable {
    case certificate(String, authorities: String, port: Int)
    case refused(String)

    /// - Parameter payload: JSON, from a broker that is known by its certificate; checked all the same.
    /// - Returns: nil when it is none.
    init?(_ payload: [UInt8]) {
        guard let said = try? JSONReader.read(payload) else { return nil }
        if let error = said["error"]?.rawText {
            self = .refused(safe(error, limit: 300))
            return
        }
        guard let certificate = said["certificate"]?.rawText, let authorities = said["authorities"]?.rawText,
            let port = said["port"]?.whole, (1...65535).contains(port),
            CertificateGather.pem(certificate).count == 1, !CertificateGather.pem(authorities).isEmpty
        else { return nil }
        self = .certificate(
            CertificateGather.pem(certificate)[0], authorities: CertificateGather.pem(authorities).joined(),
            port: port)
    }
}
