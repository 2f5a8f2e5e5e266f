import Administration
import Glibc
import MQTT
import Messages
import Platform
import Settings

/// A new certificate for a station that has one, with a new key. It runs as the service's user; the agent takes the new one up
/// at its next connection, and the old one is good until its own end.
struct CertificateRenewal {
    let config: String
    /// Now, whatever its age.
    let isForced: Bool
    /// Seconds that a broker is waited for.
    let patience: Double

    func run() throws -> CtlStatus {
        let settings: Configuration
        do throws(CodedErrors) {
            settings = try Settings.load(file: Array((SmallFiles.text(config) ?? "").utf8)).configuration
        } catch { throw CtlError(status: .settings, error.text(fileName: config)) }
        let home = config.lastIndex(of: "/").map { String(config[..<$0]) } ?? ""
        let certificate = StationCertificate(home: home)
        guard settings.mqtt.tls.certFile == certificate.file else {
            print("This station has no certificate of `seismote join`: nothing to renew")
            return .done
        }
        guard let own = Certificate(pem: SmallFiles.text(certificate.file) ?? "") else {
            throw CtlError(status: .files, "\(certificate.file) holds no certificate that can be read")
        }
        guard isForced || own.isDue(Int(ToolSensor.now() / 1_000_000_000)) else {
            print("The certificate is good until \(own.end) (UTC); it is renewed when two thirds of its life are over")
            return .done
        }
        guard let name = own.name, Topics.problem(inID: name) == nil else {
            throw CtlError(status: .files, "\(certificate.file): its subject is no station id")
        }
        // A renewal that was interrupted goes on with its key.
        if SmallFiles.text(certificate.next) == nil {
            try FileChange(path: certificate.next, text: try StationCertificate.newKey(), isForRoot: true).write()
        }
        let request = try StationCertificate.request(keyFile: certificate.next, name: name)
        var access = ConnectionOptions(brokers: [])
        access.mqtt.tls = settings.mqtt.tls
        access.brokers = settings.mqtt.uris.compactMap { try? BrokerAddress(uri: $0) }
        let end = monotonicSeconds() + patience
        let answer = try untilThere(end) { () throws(ClientError) in
            try Enrolment.ask(
                access, "renew/\(name)/csr", "renew/\(name)/cert", request, patience: end - monotonicSeconds())
        }
        switch answer {
        case nil:
            throw CtlError(status: .broker, "no answer from the enrolment service (seismote-broker-enrol.service)")
        case .refused(let problem)?:
            throw CtlError(status: .refused, "the broker refuses: \(safe(problem, limit: 300))")
        case .certificate(let pem, let authorities, _)?:
            // (The one of before is good still: it stays.)
            if let problem = StationCertificate.problem(pem, keyFile: certificate.next, name: name)
                ?? StationCertificate.problemOfTime(pem)
            {
                throw CtlError(status: .refused, "the new certificate: \(problem)")
            }
            let key = SmallFiles.text(certificate.next) ?? ""
            // (The certificate alone: its key is in the station's folder, and stays there.)
            let tried = try EditedFile(pem)
            _ = try untilThere(end) { () throws(ClientError) -> Void? in
                try connect(tried, keyFile: certificate.next, access)
            }
            try certificate.install(key: key, certificate: pem, authorities: authorities)
            unlink(certificate.next)
            let new = Certificate(pem: pem)?.end ?? "?"
            print("A new certificate, until \(new) (UTC); the agent uses it from its next connection on")
            return .done
        }
    }

    /// Result of `attempt`, which is repeated while it gives nothing or the broker is away.
    /// - Parameter end: when that is over, in monotonic seconds.
    private func untilThere<Answer>(_ end: Double, _ attempt: () throws(ClientError) -> Answer?) throws -> Answer? {
        while true {
            do throws(ClientError) {
                if let answer = try attempt() { return answer }
                if monotonicSeconds() >= end || Interrupt.came { return nil }
            } catch {
                if monotonicSeconds() + 1 >= end || Interrupt.came { throw error }
                poll(nil, 0, 1000)
            }
        }
    }

    /// The new one is connected with before the old one goes.
    private func connect(_ file: EditedFile, keyFile: String, _ access: ConnectionOptions) throws(ClientError) {
        var access = access
        (access.mqtt.tls.certFile, access.mqtt.tls.keyFile) = (file.path, keyFile)
        let client = BrokerClient(access)
        try client.connect()
        client.disconnect()
    }
}
