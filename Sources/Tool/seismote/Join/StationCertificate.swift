import Administration
import Glibc
import Messages
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
