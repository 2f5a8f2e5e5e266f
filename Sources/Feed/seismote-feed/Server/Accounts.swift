import Feed
import Glibc
import MQTT
import NIOSSL
import Platform
import Settings

/// When a file was changed, so that it is read again.
private struct FileMark: Equatable {
    private var seconds = 0
    private var nanoseconds = 0
    private var size = 0
    private var node: UInt = 0

    init(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        (size, node) = (Int(status.st_size), UInt(status.st_ino))
    }
}

/// The file of names and passwords, read again when it has changed. Any thread may ask.
final class Accounts: Sendable {
    private struct Contents {
        var file: AccountFile
        var mark: FileMark
        var recent = RecentLogins()
    }

    private let path: String
    private let contents: Mutex<Contents>

    /// - Throws: what is wrong with the file.
    init(_ path: String) throws {
        self.path = path
        let mark = FileMark(path)
        contents = Mutex(Contents(file: try Self.read(path), mark: mark))
    }

    private static func read(_ path: String) throws -> AccountFile {
        do {
            return try AccountFile(try SettingsFile.read(path))
        } catch let error as AccountFile.Problem {
            throw ServerError(message: "feed.accounts_file: \(path): \(error.message)")
        } catch {
            throw ServerError(message: "feed.accounts_file: \(path) cannot be read")
        }
    }

    /// Whether it was right a short time ago: at once.
    func knows(_ user: String, _ password: String) -> Bool {
        contents.withLock { contents in
            FileMark(path) == contents.mark && contents.recent.knows(user, password, at: monotonicSeconds())
        }
    }

    /// Takes some hundredths of a second.
    func accepts(_ user: String, _ password: String) -> Bool {
        let file = contents.withLock { contents in
            let mark = FileMark(path)
            if mark != contents.mark {
                do {
                    contents = Contents(file: try Self.read(path), mark: mark)
                } catch {
                    // The accounts of before hold until the file is good again.
                    printError("\(error)")
                    contents.mark = mark
                    contents.recent.forget()
                }
            }
            return contents.file
        }
        guard file.accepts(user, password) else { return false }
        contents.withLock { $0.recent.add(user, password, at: monotonicSeconds()) }
        return true
    }
}

/// The certificate of the server, read again when its file has changed: a renewed one needs no restart. Of the server's
/// thread.
final class Certificate: @unchecked Sendable {
    private let (chain, key): (String, String)
    private var mark: FileMark
    private var current: NIOSSLContext

    /// - Throws: what is wrong with the files.
    init(chain: String, key: String) throws {
        (self.chain, self.key) = (chain, key)
        mark = FileMark(chain)
        do {
            current = try Self.read(chain, key)
        } catch {
            throw ServerError(
                message: "feed.tls_cert_file, feed.tls_key_file: \(chain), \(key) cannot be used: \(error)")
        }
    }

    private static func read(_ chain: String, _ key: String) throws -> NIOSSLContext {
        // (The library says no more than that it failed.)
        var files = MQTTConfiguration().tls
        (files.certFile, files.keyFile) = (chain, key)
        if let problem = TransportSecurity.fileProblem(files) { throw ServerError(message: problem) }
        let certificates = try NIOSSLCertificate.fromPEMFile(chain).map { NIOSSLCertificateSource.certificate($0) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates, privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        return try NIOSSLContext(configuration: configuration)
    }

    /// For a connection that comes now.
    func context() -> NIOSSLContext {
        let mark = FileMark(chain)
        guard mark != self.mark else { return current }
        self.mark = mark
        do {
            current = try Self.read(chain, key)
            printError("the certificate has changed: \(chain)")
        } catch {
            printError("\(chain), \(key) cannot be used; the certificate of before holds: \(error)")
        }
        return current
    }
}

/// Fault that keeps the server from starting: a sentence.
struct ServerError: Error, CustomStringConvertible {
    var message: String
    var description: String { message }
}
