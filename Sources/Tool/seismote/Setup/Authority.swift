import MQTT
import Messages
import Values

/// The authority of a broker's certificate, taken from what the broker itself shows and known by its fingerprint.
enum Authority {
    /// `SHA256:` and 64 hexadecimal digits, colons between them or not: the digits in capitals; nil: it is none.
    static func digits(_ fingerprint: String) -> String? {
        var text = fingerprint.uppercased()
        if text.hasPrefix("SHA256:") { text.removeFirst(7) }
        let digits = text.filter { $0 != ":" }
        return digits.count == 64 && digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? digits : nil
    }

    /// - Returns: the certificate (PEM), or a sentence why there is none.
    static func fetch(_ broker: BrokerAddress, _ fingerprint: String) -> (pem: String?, problem: String) {
        guard digits(fingerprint) != nil else {
            return (nil, "\(safe(fingerprint, limit: 100)) is no fingerprint: SHA256: and 64 hexadecimal digits")
        }
        guard ProgramRun.path("openssl") != nil else {
            return (nil, "openssl is not installed: sudo apt install openssl")
        }
        let chain = CertificateGather.chain(broker)
        if chain.isEmpty { return (nil, "\(broker) shows no certificate: Connection refused or no TLS there") }
        return pick(chain, fingerprint, of: broker)
    }

    /// The authority with this fingerprint among the certificates that a broker shows (PEM).
    /// - Returns: as `fetch`.
    static func pick(
        _ chain: [String], _ fingerprint: String, of broker: BrokerAddress
    ) -> (pem: String?, problem: String) {
        let wanted = digits(fingerprint) ?? ""
        for certificate in chain {
            let run = ProgramRun(["openssl", "x509", "-noout", "-fingerprint", "-sha256"], input: certificate)
            let text = (run?.output ?? "").split(separator: "=").last.map { $0.filter { !$0.isWhitespace } } ?? ""
            guard digits(text) == wanted else { continue }
            // OpenSSL takes only what signed itself for an authority.
            let names = ProgramRun(["openssl", "x509", "-noout", "-subject_hash", "-issuer_hash"], input: certificate)
            let hashes = (names?.output ?? "").split(separator: "\n")
            guard hashes.count == 2, hashes[0] == hashes[1] else {
                return (nil, "the certificate with this fingerprint is no authority's own: give that of the authority")
            }
            return (certificate, "")
        }
        return (
            nil,
            "none of the \(chain.count) certificates that \(broker) shows has the fingerprint SHA256:\(wanted)"
        )
    }
}
