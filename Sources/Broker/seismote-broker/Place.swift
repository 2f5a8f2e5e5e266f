import Administration
import Glibc
import Values

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

/// Files of the broker: each is the old one or the new one, whole, whenever the power goes.
extension Disk {
    /// Owner of a file.
    enum Owner {
        /// Root's alone.
        case root
        /// The broker's: mosquitto wants passwords and rights to be its own. (It can write none of them, /etc being closed to it.)
        case broker
        /// Root's, and the service of the certificates may read it.
        case enrolment
    }

    /// Replaces a file.
    static func replace(_ path: String, _ text: String, mode: mode_t = 0o600, owner: Owner = .broker) throws(Failure) {
        try replace([(path, text)], mode: mode, owner: owner)
    }

    /// Replaces files of one folder, each by itself. (Many are brought to the disk at once.)
    static func replace(
        _ files: [(path: String, text: String)], mode: mode_t = 0o600, owner: Owner = .broker
    ) throws(Failure) {
        for (path, text) in files {
            try write(path + ".writing", Array(text.utf8), mode, owner, isSynced: files.count < 16)
        }
        if files.count >= 16 { sync() }
        for (path, _) in files where rename(path + ".writing", path) != 0 { throw failure("rename", path) }
        if let path = files.first?.path { syncFolder(of: path) }
    }

    private static func write(
        _ path: String, _ bytes: [UInt8], _ mode: mode_t, _ owner: Owner, isSynced: Bool
    ) throws(Failure) {
        try write(path, bytes, mode: owner == .enrolment ? mode | 0o040 : mode, isSynced: isSynced) {
            (file: Int32) throws(Failure) in try give(file, path, owner)
        }
    }

    /// Makes a file or folder that is open somebody's, where we are root and they are there.
    private static func give(_ file: Int32, _ path: String, _ owner: Owner) throws(Failure) {
        guard geteuid() == 0 else { return }
        switch owner {
        case .root: return
        case .broker:
            guard let user = getpwnam("seismote-broker")?.pointee else { return }
            guard fchown(file, user.pw_uid, user.pw_gid) == 0 else { throw failure("chown", path) }
        case .enrolment:
            guard let group = getgrnam("seismote-enrol")?.pointee else { return }
            guard fchown(file, 0, group.gr_gid) == 0 else { throw failure("chown", path) }
        }
    }

    /// Makes a folder where there is none, with this mode in any case.
    static func makeFolder(_ path: String, mode: mode_t, owner: Owner = .root) throws(Failure) {
        if mkdir(path, mode) != 0, errno != EEXIST { throw failure("mkdir", path) }
        let file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw failure("open", path) }
        defer { close(file) }
        guard fchmod(file, mode) == 0 else { throw failure("chmod", path) }
        try give(file, path, owner)
    }
}

extension Failure {
    static func misuse(_ words: String) -> Failure {
        var failure = Failure("\(words)\nSee: seismote-broker --help")
        failure.status = .usage
        return failure
    }
}

/// A random byte.
func randomByte() -> UInt8 { UInt8.random(in: 0...255) }

/// A random serial number of 120 bits, in hexadecimal digits. (Its first bit is 0, and it is never shorter.)
func newSerial() -> String {
    var bytes = (0..<15).map { _ in randomByte() }
    bytes[0] = bytes[0] & 0x3f | 0x40
    return Hexadecimal.text(bytes)
}

/// The place's time, as `strftime` writes it.
func local(_ seconds: Int, _ format: String) -> String {
    var (time, parts) = (time_t(seconds), tm())
    localtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 64)
    guard strftime(&text, text.count, format, &parts) > 0 else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
