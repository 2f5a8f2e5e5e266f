import Administration
import Glibc

/// Where things are.
struct Place {
    let folder: String
    /// Folder of the service `seismote-broker enrol`.
    let enrolment: String
    /// Record of removals: outside of what a backup has, so that one that is put back revives nobody in silence.
    let removed: String
    /// Where the broker listens for `seismote-broker` itself.
    let socket: String
    /// Whether the unit seismote-broker.service reads these files.
    let isServed: Bool
    /// In a container: its first process, which starts the broker again (`SEISMOTE_BROKER_PROCESS`).
    let process: pid_t?
    /// By which stations and browsers reach this machine, where that is not its name (`SEISMOTE_BROKER_HOST`), and the page's
    /// port, where that is not 443 (`SEISMOTE_BROKER_PAGE_PORT`).
    let host: String?
    let pagePort: String?

    var accounts: String { "\(folder)/accounts" }
    var passwords: String { "\(folder)/passwords" }
    var acl: String { "\(folder)/acl" }
    var tls: String { "\(folder)/tls" }
    /// The authority of the stations' certificates.
    var clients: String { "\(folder)/clients" }
    /// Names whose certificates are being revoked: the service gives them none.
    var held: String { "\(clients)/held" }
    var invitations: String { "\(folder)/invitations" }
    /// There while accounts are changed: a power cut has left something half.
    var unfinished: String { "\(folder)/unfinished" }
    var certificates: String { "\(enrolment)/certificates" }
    var joined: String { "\(enrolment)/joined" }
    /// Held by the service while it signs.
    var signing: String { "\(enrolment)/signing" }
    var database: String { "/var/lib/seismote-broker/mosquitto.db" }

    static let port = 8883
    /// Port for stations that have joined.
    static let certificatesPort = 8884
    static let sourceList = "/etc/apt/sources.list.d/seismote.list"
    static let sourceKey = "/etc/apt/keyrings/seismote.gpg"

    init() {
        func set(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let own = set("SEISMOTE_BROKER_FOLDER")
        folder = own ?? "/etc/seismote-broker"
        isServed = own == nil
        enrolment = set("SEISMOTE_ENROL_FOLDER") ?? own.map { $0 + ".enrol" } ?? "/var/lib/seismote-enrol"
        removed = set("SEISMOTE_REMOVED_FOLDER") ?? own.map { $0 + ".removed" } ?? "/var/lib/seismote-removed"
        socket = set("SEISMOTE_BROKER_SOCKET") ?? "/run/seismote-broker/control"
        process = set("SEISMOTE_BROKER_PROCESS").flatMap { pid_t($0) }.flatMap { $0 > 0 ? $0 : nil }
        host = set("SEISMOTE_BROKER_HOST")
        pagePort = set("SEISMOTE_BROKER_PAGE_PORT")
    }

    /// The certificates that were given to a station, with their paths. What the service has written is read, never written.
    func certificates(of name: String, in folder: String? = nil) -> [(path: String, certificate: Certificate)] {
        guard AccountName.isPlain(name) else { return [] }
        let place = "\(folder ?? certificates)/\(name)"
        var found: [(String, Certificate)] = []
        for file in Disk.names(place) where file.hasSuffix(".pem") && AccountName.isSerial(String(file.dropLast(4))) {
            guard let text = Disk.text("\(place)/\(file)"), var certificate = Certificate(pem: text) else { continue }
            // (The name of the file is what an earlier version has noted everywhere.)
            certificate.serial = String(file.dropLast(4))
            found.append(("\(place)/\(file)", certificate))
        }
        return found
    }
}
