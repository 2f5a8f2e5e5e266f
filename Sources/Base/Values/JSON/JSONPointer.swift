/// JSON pointers (RFC 6901).
package enum JSONPointer {
    /// The pointer of a member.
    package static func appending(_ key: String, to pointer: String) -> String {
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
    package static func of(key: String) -> String {
        key.split(separator: ".").reduce("") { appending(String($1), to: $0) }
    }

    /// Whether a pointer is another one or lies below it.
    package static func isPrefix(_ ancestor: String, of pointer: String) -> Bool {
        pointer.hasPrefix(ancestor)
            && (pointer.utf8.count == ancestor.utf8.count || pointer.dropFirst(ancestor.count).first == "/")
    }
}
