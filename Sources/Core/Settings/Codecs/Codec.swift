import Messages
import Values

/// One kind of value: how it is read, how it is written, how it is described.
public struct Codec<T: Sendable>: Sendable {
    /// For people: `number`, `text`, `one of`.
    let type: String
    /// Unit of a bare number; nil where there is none.
    let unit: String?
    /// Allowed values, in words or as an interval; goes into errors and documentation.
    let allowed: String
    /// JSON Schema (2020-12) of what `decode` takes, apart from what depends on other settings.
    let schema: Value
    /// Null is a value of this kind.
    var takesNull = false
    /// Reads a value at a pointer; nil, with the reason among the findings, when it is not allowed.
    let decode: @Sendable (Value, String, inout Findings) -> T?
    /// The canonical form: SI numbers.
    let encode: @Sendable (T) -> Value
}

/// The errors found so far.
struct Findings {
    private(set) var errors: [CodedError] = []
    /// A hostile text can hold a hundred thousand errors: beyond this many they are not listed any more.
    static let limit = 200

    mutating func add(_ error: CodedError) {
        if errors.count < Self.limit {
            errors.append(error)
        } else if errors.count == Self.limit {
            errors.append(CodedError("", error.code, "There are more errors than these \(Self.limit)."))
        }
    }

    mutating func add(
        _ path: String, _ code: CodedError.Code, _ message: String, got: Value? = nil, allowed: String? = nil,
        nearest: String? = nil
    ) {
        add(CodedError(path, code, message, got: got, allowed: allowed, nearest: nearest))
    }

    /// A value of the wrong type.
    mutating func wrongType(_ path: String, _ wanted: String, got: Value, allowed: String? = nil) {
        add(path, .type, "This must be \(wanted), not \(got.kind).", got: got, allowed: allowed)
    }

    /// Leaves of what was given, in the errors from a position on, only what may be shown.
    mutating func hideGiven(from start: Int, _ shown: (Value) -> Value?) {
        for i in errors.indices.dropFirst(start) {
            errors[i].got = errors[i].got.map { shown($0) ?? .string(Secrets.mask) }
        }
    }

    /// Takes over errors that were found elsewhere.
    mutating func add(contentsOf others: [CodedError]) {
        for error in others { add(error) }
    }

    /// Puts source, line and column on the errors from a position on.
    mutating func locate(from start: Int, _ place: (String) -> (source: SettingSource, mark: Document.Mark?)) {
        for i in errors.indices.dropFirst(start) where errors[i].source == nil {
            let (source, mark) = place(errors[i].path)
            errors[i].source = source
            errors[i].line = mark?.line
            errors[i].column = mark?.column
        }
    }
}

extension Value {
    /// Kind of value, for sentences.
    public var kind: String {
        switch self {
        case .null: "nothing"
        case .bool: "true or false"
        case .int: "a number"
        case .double(let number): number.isFinite ? "a number" : "a number that is not finite"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// A whole number as an integer, any other as it is.
    static func shortest(_ number: Double) -> Value {
        guard let whole = Int64(exactly: number), abs(whole) < 1 << 53 else { return .double(number) }
        return .int(whole)
    }

    /// The object with one more member, or with a member's value replaced.
    public func with(_ key: String, _ value: Value?) -> Value {
        guard case .object(var members) = self, let value else { return self }
        if let i = members.firstIndex(where: { $0.key == key }) {
            members[i].value = value
        } else {
            members.append(.init(key, value))
        }
        return .object(members)
    }
}

/// Reads the fields of a small object inside a setting, such as a filter's, and notices those that do not belong.
struct Fields {
    let members: [Value.Member]
    let path: String

    /// Nil, with the reason among the findings, when the value is not an object or has other keys.
    init?(_ value: Value, at path: String, keys: [String], _ findings: inout Findings) {
        guard case .object(let members) = value else {
            findings.wrongType(path, "an object", got: value, allowed: "an object with \(keys.joined(separator: ", "))")
            return nil
        }
        self.members = members
        self.path = path
        var isClean = true
        for member in members where !keys.contains(member.key) {
            isClean = false
            findings.add(.unknownKey(member, in: keys, at: path))
        }
        if !isClean { return nil }
    }

    func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    /// A field that may be left out when it has a default.
    func read<T>(_ key: String, _ codec: Codec<T>, default standard: T? = nil, _ findings: inout Findings) -> T? {
        guard let member = members.first(where: { $0.key == key }) else {
            if standard == nil {
                findings.add(path, .type, "The key `\(key)` is missing.", allowed: "\(key): \(codec.allowed)")
            }
            return standard
        }
        return codec.decode(member.value, JSONPointer.appending(key, to: path), &findings)
    }
}

extension CodedError {
    /// A key that does not exist where it was found.
    static func unknownKey(_ member: Value.Member, in known: [String], at path: String) -> CodedError {
        let nearest = Spelling.nearest(to: member.key, in: known)
        let shown = member.key.count > 80 ? member.key.prefix(80) + "…" : member.key[...]
        return CodedError(
            JSONPointer.appending(String(shown), to: path), .unknownKey, "There is no key `\(shown)` here.",
            allowed: known.joined(separator: ", "), nearest: nearest)
    }
}

/// Which word was meant.
public enum Spelling {
    /// The known word with the fewest edits, if they are few for its length; the beginning of a word means that word.
    public static func nearest(to word: String, in known: [String]) -> String? {
        let letters = Array(word.unicodeScalars)
        guard letters.count <= 64 else { return nil }
        var best: (word: String, distance: Int)?
        for candidate in known {
            let begins = letters.count > 2 && candidate.hasPrefix(word)
            let distance = begins ? 1 : edits(letters, Array(candidate.unicodeScalars))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(2, best.word.count / 3) else { return nil }
        return best.word
    }

    /// Levenshtein's distance, with one for a swap of neighbours.
    static func edits(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
                row.append(cost)
            }
            (before, last) = (last, row)
        }
        return last[b.count]
    }
}
