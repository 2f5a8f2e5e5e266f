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
