import CJansson

/// Reads JSON of untrusted origin (commands from the network) by way of jansson: strict RFC 8259, no key twice,
/// within ``ReadingLimit``.
public enum JSONReader {
    /// - Throws: an error with line and column.
    public static func read(_ bytes: [UInt8]) throws(ReadingError) -> Value {
        try ReadingLimit.checkSize(bytes)
        var problem = json_error_t()
        let flags = size_t(0x1 | 0x4)  // JSON_REJECT_DUPLICATES | JSON_DECODE_ANY: macros are not imported
        let root = bytes.withUnsafeBytes { buffer in
            json_loadb(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count, flags, &problem)
        }
        guard let root else {
            let text = withUnsafeBytes(of: &problem.text) { raw in
                // Behind it jansson has what was given, which may be a secret.
                let near = Array(" near '".utf8)
                let text = raw.prefix { $0 != 0 }
                let end = text.indices.first { text[$0...].starts(with: near) }
                return String(decoding: text[..<(end ?? text.endIndex)], as: UTF8.self)
            }
            throw ReadingError(
                .syntax, "Not readable as JSON: \(bytes.isEmpty ? "the text is empty" : text).",
                line: problem.line > 0 ? Int(problem.line) : nil,
                column: problem.column > 0 ? Int(problem.column) : nil)
        }
        defer { json_decref(root) }
        return try value(root, at: "", depth: 0)
    }

    private static func value(
        _ node: UnsafeMutablePointer<json_t>, at pointer: String, depth: Int
    ) throws(ReadingError) -> Value {
        guard depth <= ReadingLimit.depth else {
            throw ReadingError(
                .syntax, "Nested too deeply.", at: pointer, allowed: "at most \(ReadingLimit.depth) levels")
        }
        switch node.pointee.type {
        case JSON_TRUE: return .bool(true)
        case JSON_FALSE: return .bool(false)
        case JSON_INTEGER: return .int(Int64(json_integer_value(node)))
        case JSON_REAL: return .double(json_real_value(node))
        case JSON_STRING:
            guard let text = json_string_value(node) else { return .null }
            return .string(String(cString: text))
        case JSON_ARRAY:
            var elements: [Value] = []
            for i in 0..<json_array_size(node) {
                guard let element = json_array_get(node, i) else { continue }
                elements.append(try value(element, at: pointer + "/\(i)", depth: depth + 1))
            }
            return .array(elements)
        case JSON_OBJECT:
            var members: [Value.Member] = []
            var iterator = json_object_iter(node)
            while let here = iterator {
                if let key = json_object_iter_key(here), let child = json_object_iter_value(here) {
                    let name = String(cString: key)
                    let path = JSONPointer.appending(name, to: pointer)
                    members.append(.init(name, try value(child, at: path, depth: depth + 1)))
                }
                iterator = json_object_iter_next(node, here)
            }
            return .object(members)
        default: return .null
        }
    }
}

/// Reason why a text is not read as a tree.
public struct ReadingError: Error, Sendable, Equatable {
    public enum Kind: Sendable { case syntax, tooLarge }

    public var kind: Kind
    /// A sentence for people. It has nothing of what was given, which may be a secret.
    public var message: String
    /// JSON pointer of the member; empty for the whole.
    public var path: String
    /// Nil when there is nothing to show.
    public var got: Value?
    /// In words; nil when the message says it all.
    public var allowed: String?
    /// From 1; nil where it is not known.
    public var line: Int?
    public var column: Int?

    init(
        _ kind: Kind, _ message: String, at path: String = "", got: Value? = nil, allowed: String? = nil,
        line: Int? = nil, column: Int? = nil
    ) {
        self.kind = kind
        self.message = message
        self.path = path
        self.got = got
        self.allowed = allowed
        self.line = line
        self.column = column
    }
}

/// Bounds on what is read, so that nobody can make a program work or remember without end.
package enum ReadingLimit {
    /// Bytes of a whole text.
    package static let bytes = 1 << 20
    /// Levels of objects and lists within each other.
    package static let depth = 32

    package static func checkSize(_ bytes: [UInt8]) throws(ReadingError) {
        guard bytes.count <= Self.bytes else {
            throw ReadingError(
                .tooLarge, "The text has \(bytes.count) bytes; up to \(Self.bytes) are read.",
                got: .int(Int64(bytes.count)), allowed: "at most \(Self.bytes) bytes")
        }
    }
}

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
