import Client
import Glibc
import MQTT
import Messages
import Settings
import Values

/// The certificates that a connection depends on, read with `openssl`.
enum CertificateGather {
    static func certificates(_ access: BrokerAccess) -> Known<[CertificateFacts]> {
        guard access.brokers.contains(where: \.tls) else { return .known([]) }
        guard ProgramRun.path("openssl") != nil else {
            return .unknown("openssl is not installed: sudo apt install openssl")
        }
        var found: [CertificateFacts] = []
        for (path, what) in [
            (access.tls.caFile, "The CA file"), (access.tls.certFile, "The client certificate"),
        ]
        where !path.isEmpty {
            let blocks = pem(SmallFiles.text(path) ?? "")
            if blocks.isEmpty {
                found.append(
                    CertificateFacts(what: "\(what) \(path)", problem: "holds no certificate that can be read"))
            }
            found += blocks.map { facts("\(what) \(path)", $0) }
        }
        for broker in access.brokers where broker.tls && access.tls.pskIdentity.isEmpty {
            let what = "The certificate of \(broker)"
            if let first = chain(broker, access.tls).first {
                found.append(facts(what, first))
            } else {
                found.append(CertificateFacts(what: what, problem: "the broker shows none"))
            }
        }
        return .known(found)
    }

    /// The certificates that a broker shows, its own first (PEM).
    static func chain(_ broker: BrokerAddress, _ tls: MQTTConfiguration.TLS = MQTTConfiguration().tls) -> [String] {
        let host = broker.host.contains(":") ? "[\(broker.host)]" : broker.host
        var words = ["openssl", "s_client", "-connect", "\(host):\(broker.port)", "-showcerts"]
        // An address is no server name.
        if broker.host.contains(where: { $0.isLetter }), !broker.host.contains(":") {
            words += ["-servername", broker.host]
        }
        if !tls.certFile.isEmpty { words += ["-cert", tls.certFile, "-key", tls.keyFile, "-passin", "pass:"] }
        return pem(ProgramRun(words, seconds: 8)?.output ?? "")
    }

    /// The certificates in a text.
    static func pem(_ text: String) -> [String] {
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        var blocks: [String] = []
        var block: String?
        for line in text.split(separator: "\n") {
            if line.hasPrefix(begin) { block = "" }
            block?.append(line + "\n")
            if line.hasPrefix(end), let whole = block {
                blocks.append(whole)
                block = nil
            }
        }
        return Array(blocks.prefix(10))
    }

    /// When a certificate (PEM) begins and ends.
    static func facts(_ what: String, _ block: String) -> CertificateFacts {
        let run = ProgramRun(
            ["openssl", "x509", "-noout", "-startdate", "-enddate", "-dateopt", "iso_8601"], input: block)
        func time(_ key: String) -> Int64? {
            run?.properties[key].flatMap { text in
                Timestamp(text.map { $0 == " " ? "T" : String($0) }.joined())?.nanoseconds
            }
        }
        var facts = CertificateFacts(what: what, from: time("notBefore"), until: time("notAfter"))
        if facts.until == nil { facts.problem = "openssl cannot read it" }
        return facts
    }
}
