import Administration
import Glibc
import MQTT
import Messages
import Platform
import Settings

import struct Administration.Failure

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

    // MARK: keys and requests

    /// A new private key (PEM).
    static func newKey() throws(CtlError) -> String {
        do throws(Failure) { return try OpenSSL.newKey() } catch { throw CtlError(refused: error) }
    }

    /// A certificate request (PEM) for a name.
    /// - Parameter keyFile: path of the private key.
    static func request(keyFile: String, name: String) throws(CtlError) -> String {
        do throws(Failure) { return try OpenSSL.request(keyFile: keyFile, name: name) } catch {
            throw CtlError(refused: error)
        }
    }

    /// Fault of a certificate (PEM) for this key and name; nil: it is theirs.
    static func problem(_ certificate: String, keyFile: String, name: String) -> String? {
        guard let read = Certificate(pem: certificate) else { return "it cannot be read" }
        do throws(Failure) {
            let key = try OpenSSL.publicKey(of: SmallFiles.text(keyFile) ?? "")
            return read.problem(key: key, name: name)
        } catch { return safe(error.words, limit: 300) }
    }

    /// Fault of its time, by this board's clock; nil: it is good now.
    static func problemOfTime(_ certificate: String) -> String? {
        Certificate(pem: certificate)?.problem(at: Int(ToolSensor.now() / 1_000_000_000))
    }
}

extension CtlError {
    init(refused failure: Failure) { self.init(status: .refused, safe(failure.words, limit: 300)) }
}

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
