import Glibc

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
