import Administration
import Glibc
import MQTT
import Messages
import Settings
import Values

/// The certificates that a connection depends on.
enum CertificateGather {
    static func certificates(_ access: ConnectionOptions) -> Known<[CertificateFacts]> {
        guard access.brokers.contains(where: \.tls) else { return .known([]) }
        guard OpenSSL.isInstalled else { return .unknown(OpenSSL.missing) }
        var found: [CertificateFacts] = []
        for (path, what) in [
            (access.mqtt.tls.caFile, "The CA file"), (access.mqtt.tls.certFile, "The client certificate"),
        ]
        where !path.isEmpty {
            let parts = PEM.parts("CERTIFICATE", in: SmallFiles.text(path) ?? "").prefix(10)
            if parts.isEmpty {
                found.append(
                    CertificateFacts(what: "\(what) \(path)", problem: "holds no certificate that can be read"))
            }
            found += parts.map { part in
                part.flatMap { Certificate($0) }.map { facts("\(what) \(path)", $0) }
                    ?? CertificateFacts(what: "\(what) \(path)", problem: "holds a certificate that cannot be read")
            }
        }
        for broker in access.brokers where broker.tls && access.mqtt.tls.pskIdentity.isEmpty {
            let what = "The certificate of \(broker)"
            if let first = TLSServer(broker, access.mqtt.tls).chain(isCancelled: { Interrupt.came }).first {
                found.append(facts(what, first))
            } else {
                found.append(CertificateFacts(what: what, problem: "the broker shows none"))
            }
        }
        return .known(found)
    }

    private static func facts(_ what: String, _ certificate: Certificate) -> CertificateFacts {
        CertificateFacts(what: what, from: nanoseconds(certificate.from), until: nanoseconds(certificate.until))
    }

    /// (Nanoseconds end in 2262, and some authorities in 9999.)
    private static func nanoseconds(_ seconds: Int) -> Int64 { Int64(min(seconds, 9_000_000_000)) * 1_000_000_000 }
}

extension TLSServer {
    init(_ broker: BrokerAddress, _ tls: MQTTConfiguration.TLS = MQTTConfiguration().tls) {
        self.init(
            host: broker.host, port: broker.port, name: "\(broker)", certificateFile: tls.certFile,
            keyFile: tls.keyFile)
    }
}

extension Certificate {
    /// When it begins and ends, in UTC, for people.
    var begin: String { dateAndTime(UTC.text(from)) }
    var end: String { dateAndTime(UTC.text(until)) }
}
