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

    /// What is wrong with a file that somebody else is going to open; nil when it is none of this.
    static func problem(_ path: String, _ what: String, limit: Int) -> String? {
        do throws(MQTTError) {
            close(try open(path, what, limit: limit))
            return nil
        } catch { return error.message }
    }
}
