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
        let line = bytes.prefix { $0 != 10 && $0 != 13 }
        guard !line.contains(0) else { return .failure(MQTTError("\(what) \"\(path)\" contains a zero byte")) }
        return .success(String(decoding: line, as: UTF8.self))
    }

    /// True when users of the board who have nothing to do with the agent may read the file.
    package static func isOpenToAll(_ name: String) -> Bool {
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
