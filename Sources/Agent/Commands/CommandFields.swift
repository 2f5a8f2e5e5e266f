import Messages
import Settings

/// Reads the members of a command's object and gathers everything that is wrong with them.
struct CommandFields {
    private let members: [Value.Member]
    private(set) var errors: [CodedError] = []
    private var known: [String] = []

    /// - Parameter root: an object; anything else is an error.
    init(_ root: Value) {
        guard case .object(let members) = root else {
            self.members = []
            errors = [
                CodedError(
                    "", .type, "A command is a JSON object, not \(root.kind).", got: root.harmless, allowed: "an object"
                )
            ]
            return
        }
        self.members = members
    }

    mutating func add(_ error: CodedError) { errors.append(error) }

    private mutating func take(_ key: String) -> Value? {
        known.append(key)
        return members.first { $0.key == key }?.value
    }

    func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    mutating func text(_ key: String) -> String? {
        guard let value = take(key) else { return nil }
        if case .string(let text) = value { return text }
        wrong(key, "text", value)
        return nil
    }

    mutating func flag(_ key: String) -> Bool {
        guard let value = take(key) else { return false }
        if case .bool(let flag) = value { return flag }
        wrong(key, "true or false", value)
        return false
    }

    mutating func whole(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = take(key) else { return nil }
        guard value.number != nil else {
            wrong(key, "a whole number", value)
            return nil
        }
        guard let number = value.integer, let whole = Int(exactly: number), range.contains(whole) else {
            outside(key, value, "\(range.lowerBound)…\(range.upperBound), a whole number")
            return nil
        }
        return whole
    }

    mutating func number(_ key: String, in range: ClosedRange<Double>, unit: String) -> Double? {
        guard let value = take(key) else { return nil }
        guard let number = value.number else {
            wrong(key, "a number", value)
            return nil
        }
        guard range.contains(number) else {
            outside(key, value, "\(Self.text(range.lowerBound))…\(Self.text(range.upperBound)) \(unit)")
            return nil
        }
        return number
    }

    /// Nanoseconds of UTC.
    mutating func time(_ key: String) -> Int64? {
        guard let text = text(key) else { return nil }
        guard let time = Timestamp(text) else {
            errors.append(
                CodedError(
                    "/\(key)", .type, "This is not a time.", got: Value.string(text).shown,
                    allowed: "RFC 3339, such as 2026-01-05T10:20:30Z"))
            return nil
        }
        return time.nanoseconds
    }

    mutating func object(_ key: String) -> Value? {
        guard let value = take(key) else { return nil }
        if case .object = value { return value }
        errors.append(
            CodedError("/\(key)", .type, "This must be an object, not \(value.kind).", got: value.harmless))
        return nil
    }

    /// Takes members as they are, for those who check them later.
    mutating func raw(_ keys: [String]) -> Value {
        known += keys
        return .object(members.filter { keys.contains($0.key) })
    }

    mutating func missing(_ key: String, _ allowed: String) {
        if !has(key) { errors.append(CodedError("/\(key)", .type, "The key `\(key)` is missing.", allowed: allowed)) }
    }

    /// What was never asked for does not belong here.
    mutating func finish() {
        for member in members where !known.contains(member.key) {
            let shown = String(member.key.prefix(80))
            errors.append(
                CodedError(
                    Pointer.member(shown), .unknownKey, "There is no key `\(shown)` in this command.",
                    allowed: known.joined(separator: ", "), nearest: Spelling.nearest(to: member.key, in: known)))
            if errors.count >= 50 { return }
        }
    }

    private mutating func wrong(_ key: String, _ wanted: String, _ value: Value) {
        errors.append(CodedError("/\(key)", .type, "This must be \(wanted), not \(value.kind).", got: value.shown))
    }

    private mutating func outside(_ key: String, _ value: Value, _ allowed: String) {
        errors.append(CodedError("/\(key)", .range, "This is not allowed.", got: value.shown, allowed: allowed))
    }

    private static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
    }

    private enum Pointer {
        static func member(_ key: String) -> String {
            var pointer = "/"
            for scalar in key.unicodeScalars {
                switch scalar {
                case "~": pointer += "~0"
                case "/": pointer += "~1"
                default: pointer.unicodeScalars.append(scalar)
                }
            }
            return pointer
        }
    }
}

extension Value {
    /// What was given in the place of an object, for an error: text and lists may have a password in them.
    fileprivate var harmless: Value? {
        switch self {
        case .string, .array: nil
        default: shown
        }
    }

    /// What was given, for an error: nothing that would fill a reply.
    var shown: Value? {
        switch self {
        case .string(let text) where text.utf8.count > 200:
            return .string(text.unicodeScalars.prefix(100).reduce(into: "") { $0.unicodeScalars.append($1) } + "…")
        case .array, .object: return json().count > 300 ? nil : self
        case .double(let number) where !number.isFinite: return nil
        default: return self
        }
    }
}
