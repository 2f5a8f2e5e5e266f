import Messages

/// A tree as it was read, and where in the text each of its nodes began.
struct Document: Sendable, Equatable {
    struct Mark: Sendable, Equatable {
        /// From 1.
        var line: Int
        var column: Int
    }

    var root: Value
    /// By JSON pointer; for the member of an object, the place of its key. Empty when the text has no lines.
    var marks: [String: Mark] = [:]

    /// The place of a node, or of the nearest node around it.
    func mark(at pointer: String) -> Mark? {
        var path = Substring(pointer)
        while true {
            if let mark = marks[String(path)] { return mark }
            guard let slash = path.lastIndex(of: "/") else { return nil }
            path = path[..<slash]
        }
    }
}

/// Bounds on what is read, so that nobody can make the agent work or remember without end.
enum ReadingLimit {
    /// Bytes of a whole text.
    static let bytes = 1 << 20
    /// Levels of objects and lists within each other.
    static let depth = 32

    static func checkSize(_ bytes: [UInt8]) throws(CodedError) {
        guard bytes.count <= Self.bytes else {
            throw CodedError(
                "", .tooLarge, "The text has \(bytes.count) bytes; settings are read up to \(Self.bytes).",
                got: .int(Int64(bytes.count)), allowed: "at most \(Self.bytes) bytes")
        }
    }
}

/// JSON pointers (RFC 6901).
enum Pointer {
    /// The pointer of a member.
    static func appending(_ key: String, to pointer: String) -> String {
        guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
            return pointer + "/" + key
        }
        var escaped = ""
        for character in key.unicodeScalars {
            switch character {
            case "~": escaped += "~0"
            case "/": escaped += "~1"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return pointer + "/" + escaped
    }

    /// `trace.rate_hz` becomes `/trace/rate_hz`.
    static func of(key: String) -> String {
        key.split(separator: ".").reduce("") { appending(String($1), to: $0) }
    }

    /// Whether a pointer is another one or lies below it.
    static func isPrefix(_ ancestor: String, of pointer: String) -> Bool {
        pointer.hasPrefix(ancestor)
            && (pointer.utf8.count == ancestor.utf8.count || pointer.dropFirst(ancestor.count).first == "/")
    }
}
