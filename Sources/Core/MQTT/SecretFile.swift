import CSharedKey
import Glibc

/// A short file with a secret in it, such as a password. Its content never goes into a message.
package enum SecretFile {
    static let limit = 4096

    /// The text up to the first line end.
    /// - Parameters:
    ///   - name: absolute, or a name below `$CREDENTIALS_DIRECTORY`, where systemd puts credentials.
    ///   - what: what to call it in a message.
    package static func read(_ name: String, what: String = "password file") -> Result<String, MQTTError> {
        guard let path = path(name) else {
            return .failure(
                MQTTError("\(what) \"\(name)\" is neither an absolute path nor one of the credentials of the service"))
        }
        let bytes: [UInt8]
        do throws(MQTTError) { bytes = try PlainFile.read(path, what, limit: limit) } catch { return .failure(error) }
        func problem(_ why: String) -> Result<String, MQTTError> { .failure(MQTTError("\(what) \"\(path)\" \(why)")) }
        // Editors of Windows write a byte-order mark, which would be part of the secret.
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return problem("is UTF-16 text: write it as UTF-8")
        }
        let line = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0).prefix { $0 != 10 && $0 != 13 }
        guard !line.contains(0) else { return problem("contains a zero byte") }
        guard !line.isEmpty else { return problem("has nothing in its first line") }
        let text = String(decoding: line, as: UTF8.self)
        // (Decoding replaces a byte that is not UTF-8, and the broker would refuse the result without a reason.)
        guard text.utf8.elementsEqual(line) else { return problem("is not UTF-8 text: write it as UTF-8") }
        return .success(text)
    }

    /// True when users of the board who have nothing to do with the agent may read the file.
    static func isOpenToAll(_ name: String) -> Bool {
        var facts = stat()
        guard let path = path(name), stat(path, &facts) == 0 else { return false }
        return facts.st_mode & S_IROTH != 0
    }

    private static func path(_ name: String) -> String? {
        if name.hasPrefix("/") { return name }
        guard let directory = getenv("CREDENTIALS_DIRECTORY"), directory.pointee != 0, !name.contains("/") else {
            return nil
        }
        return "\(String(cString: directory))/\(name)"
    }
}

/// Regular files of limited size: a pipe in the place of one would hold up whoever opens it until somebody writes.
enum PlainFile {
    /// Opens it for reading, without ever waiting.
    /// - Parameters:
    ///   - what: what to call it in a message.
    ///   - limit: bytes.
    static func open(_ path: String, _ what: String, limit: Int) throws(MQTTError) -> Int32 {
        func problem(_ why: String) -> MQTTError { MQTTError("\(what) \"\(path)\"\(why)") }
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw problem(": \(String(cString: strerror(errno)))") }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw problem(" is not a regular file")
        }
        guard facts.st_size <= limit else {
            close(file)
            throw problem(" is larger than \(limit) bytes")
        }
        return file
    }

    /// All of it.
    static func read(_ path: String, _ what: String, limit: Int) throws(MQTTError) -> [UInt8] {
        let file = try open(path, what, limit: limit)
        defer { close(file) }
        // (By its size, and not by the limit: the programs are small.)
        var facts = stat()
        fstat(file, &facts)
        var bytes = [UInt8](repeating: 0, count: min(max(0, Int(facts.st_size)), limit) + 1)
        var count = 0
        while count <= limit {
            // (It has grown since.)
            if count == bytes.count { bytes += [UInt8](repeating: 0, count: min(count, limit + 1 - count)) }
            let got = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(file, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if got < 0 {
                if errno == EINTR { continue }
                throw MQTTError("\(what) \"\(path)\": \(String(cString: strerror(errno)))")
            }
            if got == 0 { break }
            count += got
        }
        guard count <= limit else { throw MQTTError("\(what) \"\(path)\" is larger than \(limit) bytes") }
        return Array(bytes[..<count])
    }
}

/// A file that TLS reads, by its bytes: what it is, and what to do where that is not what is wanted. Pure, but for OpenSSL.
/// OpenSSL itself says "PEM lib" of all of these, or asks for a pass phrase at the terminal and waits for ever.
enum KeyFile {
    /// Content that a setting wants of its file.
    enum Role {
        case authorities, certificate, key
    }

    private static let isNotPEM = "is not in the PEM format (text with -----BEGIN lines)"

    /// Why a file cannot be what it is to be, as the rest of a sentence with a remedy; nil: it can.
    static func problem(_ bytes: [UInt8], as role: Role, path: String) -> String? {
        if bytes.isEmpty { return "is empty" }
        if let problem = encoding(bytes, path) ?? binary(bytes, role, path) { return problem }
        let labels = labels(bytes)
        let keys = labels.filter { $0.hasSuffix("PRIVATE KEY") }
        let certificates = labels.filter { $0.hasSuffix("CERTIFICATE") }
        if role == .key, !keys.isEmpty {
            if keys.contains("OPENSSH PRIVATE KEY") {
                return "is a key of OpenSSH: write it anew as PEM, `ssh-keygen -p -m PEM -f \(path)`"
            }
            let isEncrypted = keys.contains("ENCRYPTED PRIVATE KEY") || lines(bytes).contains { isEncryptedHeader($0) }
            return isEncrypted
                ? "is encrypted with a pass phrase, which nobody can type here: write it without one, `openssl pkey -in \(path) -out NEW.key`, and name that file in its place"
                : nil
        }
        if role != .key, !certificates.isEmpty { return nil }
        if role == .key, !certificates.isEmpty {
            return "holds a certificate and no private key: are the files of certificate and key swapped?"
        }
        if role == .certificate, !keys.isEmpty {
            return "holds a private key and no certificate: are the files of certificate and key swapped?"
        }
        if role == .authorities, !keys.isEmpty { return "holds a private key and no certificate of an authority" }
        if labels.contains("CERTIFICATE REQUEST") || labels.contains("NEW CERTIFICATE REQUEST") {
            return "is a request for a certificate: the authority that signs it gives back the certificate"
        }
        if labels.contains("PUBLIC KEY") { return "is a public key, not \(wanted(role))" }
        if labels.contains("PKCS7") {
            return "is a PKCS #7 bundle: `openssl pkcs7 -in \(path) -print_certs -out NEW.pem`"
        }
        if lines(bytes).first?.starts(with: "PuTTY-User-Key-File".utf8) == true {
            return "is a key of PuTTY: export it as an OpenSSL key (PEM)"
        }
        return "holds no \(wanted(role)): it \(isNotPEM)"
    }

    /// Fault of a certificate and its key together, as a sentence; nil: none, or it cannot be known.
    static func problem(
        certificates: [UInt8], at certificatePath: String, key: [UInt8], at keyPath: String
    ) -> String? {
        switch Int(ckeyfiles_match(certificates, certificates.count, key, key.count)) {
        case 0, Int(CKEYFILES_UNKNOWN): nil
        case Int(CKEYFILES_NO_KEY): "the key file \"\(keyPath)\" is damaged: its private key cannot be read"
        case Int(CKEYFILES_NO_MATCH):
            "the key file \"\(keyPath)\" does not belong to the certificate \"\(certificatePath)\": they are of two pairs"
        case let index:
            "the certificate file \"\(certificatePath)\" is in the wrong order: the station's own certificate is number \(index + 1) and must be the first, before those of the authorities"
        }
    }

    /// Whether certificates can be read at all, and from when until when the first is valid (s since 1970); nil: nobody
    /// knows. `count` 0: none can be read.
    static func certificates(_ bytes: [UInt8]) -> (count: Int, from: Int64, until: Int64)? {
        var (from, until): (Int64, Int64) = (0, 0)
        let count = ckeyfiles_certificates(bytes, bytes.count, 0, &from, &until)
        return count < 0 ? nil : (Int(count), from, until)
    }

    private static func wanted(_ role: Role) -> String { role == .key ? "private key" : "certificate" }

    // MARK: bytes

    private static func encoding(_ bytes: [UInt8], _ path: String) -> String? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            return
                "begins with a byte-order mark, as editors of Windows write it: `sed -i '1s/^\\xEF\\xBB\\xBF//' \(path)` takes it away"
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return "is UTF-16 text: `iconv -f UTF-16 -t ASCII \(path) > NEW.pem`"
        }
        return nil
    }

    /// Forms without text.
    private static func binary(_ bytes: [UInt8], _ role: Role, _ path: String) -> String? {
        if bytes.starts(with: [0xFE, 0xED, 0xFE, 0xED]) {
            return
                "is a keystore of Java: `keytool -importkeystore -srckeystore \(path) -destkeystore NEW.p12 -deststoretype pkcs12`, then `openssl pkcs12 -in NEW.p12 -nodes -out NEW.pem`"
        }
        guard bytes[0] == 0x30, bytes.count > 8 else { return nil }
        // DER: a sequence, and what its first element is.
        let length = bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7f)
        guard bytes.count > length + 3, length <= 6 else { return "holds no \(wanted(role)): it \(isNotPEM)" }
        switch (bytes[length], bytes[length + 1], bytes[length + 2]) {
        case (2, 1, 3):
            return
                "is a PKCS #12 file (.p12, .pfx): take it apart, `openssl pkcs12 -in \(path) -nodes -nocerts -out NEW.key` and `openssl pkcs12 -in \(path) -nokeys -out NEW.pem`"
        case (2, 1, _):
            return role == .key
                ? "is a key in the DER format: `openssl pkey -inform der -in \(path) -out NEW.key`"
                : "is a private key in the DER format, not a certificate"
        default:
            return role == .key
                ? "is in the DER format, and no private key that can be used: `openssl pkey -inform der -in \(path) -out NEW.key` where it is one with a pass phrase"
                : "is a certificate in the DER format: `openssl x509 -inform der -in \(path) -out NEW.pem`"
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split { $0 == 10 || $0 == 13 }
    }

    private static func isEncryptedHeader(_ line: ArraySlice<UInt8>) -> Bool {
        line.starts(with: "Proc-Type:".utf8)
            && line.split(separator: UInt8(ascii: ",")).last?.elementsEqual("ENCRYPTED".utf8) == true
    }

    /// Labels between `-----BEGIN ` and `-----`, of lines that begin with it, as OpenSSL reads them.
    private static func labels(_ bytes: [UInt8]) -> [String] {
        lines(bytes).compactMap { line in
            let begin = Array("-----BEGIN ".utf8)
            guard line.starts(with: begin) else { return nil }
            let rest = line.dropFirst(begin.count)
            return String(decoding: rest.prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        }
    }
}
