import Values

/// The program `openssl`. It makes keys and signatures, and verifies requests. Certificates are encoded and read without it.
package enum OpenSSL {
    package static var isInstalled: Bool { ChildProgram.path("openssl") != nil }
    package static let missing = "openssl is not installed: sudo apt install openssl"

    private static func run(_ words: String..., input: [UInt8] = [], to what: String) throws(Failure) -> [UInt8] {
        guard let run = ChildProgram(["openssl"] + words, input: input, seconds: 60) else { throw Failure(missing) }
        guard run.isDone else {
            let why = run.errorText.filter { $0 >= " " || $0 == "\n" }.prefix(300)
            throw Failure("openssl could not \(what): \(why)")
        }
        return run.output
    }

    /// A new private key of the curve P-256 (PEM).
    package static func newKey() throws(Failure) -> String {
        let words = try run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", to: "make a key")
        return String(decoding: words, as: UTF8.self)
    }

    /// The public key (DER) of a private one (PEM).
    package static func publicKey(of key: String) throws(Failure) -> [UInt8] {
        try run("pkey", "-pubout", "-outform", "DER", input: Array(key.utf8), to: "read a key")
    }

    /// Returns the issuance, signed with the issuer's key (PEM).
    package static func sign(_ issue: Issuance, keyFile: String) throws(Failure) -> String {
        issue.signed(try run("dgst", "-sha256", "-sign", keyFile, input: issue.body, to: "sign with \(keyFile)"))
    }

    /// The name by which OpenSSL looks for an authority (PEM) in a folder.
    package static func folderName(of authority: String) throws(Failure) -> String {
        let said = try run("x509", "-noout", "-hash", input: Array(authority.utf8), to: "read an authority")
        return String(decoding: said.prefix { $0 != 10 }, as: UTF8.self) + ".0"
    }

    // MARK: requests

    /// A certificate request (PKCS #10, PEM) for a name.
    /// - Parameter keyFile: path of the private key.
    package static func request(keyFile: String, name: String) throws(Failure) -> String {
        let words = try run(
            "req", "-new", "-key", keyFile, "-subj", "/CN=\(name)", "-sha256",
            to: "make a certificate request with \(keyFile)")
        return String(decoding: words, as: UTF8.self)
    }

    /// Reads a request, of which nothing is believed.
    package static func read(request: [UInt8]) throws(Failure) -> CertificateRequest {
        let words = ["openssl", "req", "-noout", "-verify", "-subject", "-nameopt", "RFC2253", "-pubkey"]
        guard let run = ChildProgram(words, input: request, seconds: 10) else { throw Failure(missing) }
        let said = run.errorText.split(separator: "\n") + run.text.split(separator: "\n")
        return CertificateRequest(
            isSigned: run.isDone && said.contains { $0.hasSuffix("verify OK") },
            subject: run.text.split(separator: "\n").first { $0.hasPrefix("subject=") }.map(String.init) ?? "",
            key: PEM.all("PUBLIC KEY", in: run.text).first ?? [])
    }
}

/// A request for a certificate, as `openssl req` reads it.
package struct CertificateRequest: Equatable {
    /// Whether its own key has signed it.
    private var isSigned: Bool
    /// `subject=` and the name.
    private var subject: String
    /// DER.
    package var key: [UInt8]

    package init(isSigned: Bool, subject: String, key: [UInt8]) {
        (self.isSigned, self.subject, self.key) = (isSigned, subject, key)
    }

    /// Names the fault of a request for this name; nil: none.
    package func problem(name: String) -> String? {
        if !isSigned { return "the request is no certificate request (PKCS #10, PEM) that is signed by its own key" }
        if subject != "subject=CN=\(name)" {
            return
                "the request is for another name: the invitation is for \(name), and the subject has to be CN=\(name) alone"
        }
        return PublicKey.isP256(key) ? nil : "the key of the request is not one of the curve P-256"
    }
}

/// A server that speaks TLS, and the certificates that it shows.
package struct TLSServer {
    private let host: String
    private let port: Int
    /// For sentences.
    private let name: String
    /// Own certificate and key, for a server that asks for one; empty: none.
    private let certificateFile: String
    private let keyFile: String

    package init(host: String, port: Int, name: String, certificateFile: String = "", keyFile: String = "") {
        (self.host, self.port, self.name) = (host, port, name)
        (self.certificateFile, self.keyFile) = (certificateFile, keyFile)
    }

    /// The certificates that it shows, its own first.
    /// - Parameter isCancelled: as ``ChildProgram`` has it.
    package func chain(isCancelled: () -> Bool = { false }) -> [Certificate] {
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        var words = ["openssl", "s_client", "-connect", place, "-showcerts"]
        // An address is no server name.
        if host.contains(where: { $0.isLetter }), !host.contains(":") { words += ["-servername", host] }
        if !certificateFile.isEmpty { words += ["-cert", certificateFile, "-key", keyFile, "-passin", "pass:"] }
        return Certificate.all(pem: ChildProgram(words, seconds: 8, isCancelled: isCancelled)?.text ?? "")
    }

    /// The authority of its certificate, which it shows itself and which is known by its fingerprint.
    /// - Parameters:
    ///   - fingerprint: as ``Fingerprint/digits(_:)`` takes it.
    ///   - chain: what it has shown; nil: it is asked.
    package func authority(_ fingerprint: String, in chain: [Certificate]? = nil) throws(Failure) -> Certificate {
        guard let wanted = Fingerprint.digits(fingerprint) else {
            throw Failure("\(fingerprint.prefix(100)) is no fingerprint: SHA256: and 64 hexadecimal digits")
        }
        if chain == nil, !OpenSSL.isInstalled { throw Failure(OpenSSL.missing) }
        let shown = chain ?? self.chain()
        if shown.isEmpty { throw Failure("\(name) shows no certificate: Connection refused or no TLS there") }
        guard let found = shown.first(where: { Fingerprint.of($0.bytes) == wanted }) else {
            throw Failure(
                "none of the \(shown.count) certificates that \(name) shows has the fingerprint SHA256:\(wanted)")
        }
        // OpenSSL takes only what signed itself for an authority.
        guard found.issuer == found.subject else {
            throw Failure("the certificate with this fingerprint is no authority's own: give that of the authority")
        }
        return found
    }
}
