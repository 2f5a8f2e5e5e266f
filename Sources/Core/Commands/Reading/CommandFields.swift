import Messages
import Settings
import Values

/// Reads the members of a command's object as they are declared, and gathers everything that is wrong with them.
struct CommandFields {
    private let root: [Value.Member]
    private(set) var members = CommandMembers()
    private(set) var errors: [CodedError] = []
    private var known: [String] = []

    /// - Parameter root: an object; anything else is an error.
    init(_ root: Value) {
        guard case .object(let members) = root else {
            self.root = []
            errors = [
                CodedError(
                    "", .type, "A command is a JSON object, not \(root.kind).", got: root.harmless,
                    allowed: "an object")
            ]
            return
        }
        self.root = members
    }

    mutating func add(_ error: CodedError?) { if let error { errors.append(error) } }

    mutating func read(_ member: CommandMember) {
        known.append(member.name)
        guard let value = root.first(where: { $0.key == member.name })?.value else {
            if member.isNeeded { missing(member.name, member.allowed) }
            return
        }
        let error = Self.error(member, value)
        add(error)
        members.note(member.name, error == nil ? value : nil)
    }

    mutating func missing(_ key: String, _ allowed: String) {
        add(CodedError("/\(key)", .type, "The key `\(key)` is missing.", allowed: allowed))
    }

    /// Reports members that no declaration has.
    mutating func finish() {
        members.order(as: root.map(\.key))
        for member in root where !known.contains(member.key) {
            let shown = String(member.key.prefix(80))
            add(
                CodedError(
                    Self.pointer(shown), .unknownKey, "There is no key `\(shown)` in this command.",
                    allowed: known.joined(separator: ", "), nearest: Spelling.nearest(to: member.key, in: known)))
            if errors.count >= 50 { return }
        }
    }

    private static func error(_ member: CommandMember, _ value: Value) -> CodedError? {
        let path = "/\(member.name)"
        func wrong(_ wanted: String) -> CodedError {
            CodedError(path, .type, "This must be \(wanted), not \(value.kind).", got: value.shown)
        }
        func outside(_ message: String, nearest: String? = nil) -> CodedError {
            CodedError(path, .range, message, got: value.shown, allowed: member.allowed, nearest: nearest)
        }
        var text: String? { if case .string(let text) = value { text } else { nil } }
        switch member.kind {
        case .text: return text == nil ? wrong("text") : nil
        case .choice(let words):
            guard let text else { return wrong("text") }
            if words.contains(text) { return nil }
            return outside(
                "`\(text.prefix(80))` is not one of the allowed words.",
                nearest: Spelling.nearest(to: text, in: words))
        case .flag:
            if case .bool = value { return nil }
            return wrong("true or false")
        case .whole(let range):
            guard let number = value.number else { return wrong("a whole number") }
            guard let whole = value.integer else {
                return outside("\(CommandMember.text(number)) is not a whole number.")
            }
            if let whole = Int(exactly: whole), range.contains(whole) { return nil }
            return outside("\(whole) is outside \(range.lowerBound)…\(range.upperBound).")
        case .number(let range, _):
            guard let number = value.number else { return wrong("a number") }
            return range.contains(number)
                ? nil : outside("\(CommandMember.text(number)) is outside \(member.allowed).")
        case .time:
            guard let text else { return wrong("text") }
            if Timestamp(text) != nil { return nil }
            return CodedError(
                path, .type, "`\(text.prefix(80))` is not a time.", got: value.shown, allowed: member.allowed)
        case .object:
            if case .object = value { return nil }
            return CodedError(path, .type, "This must be an object, not \(value.kind).", got: value.harmless)
        case .any: return nil
        }
    }

    private static func pointer(_ key: String) -> String {
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

extension Value {
    /// Value given in the place of an object, for an error: text and lists may have a password in them.
    fileprivate var harmless: Value? {
        switch self {
        case .string, .array: nil
        default: shown
        }
    }

    /// Value given, for an error: nothing that would fill a reply.
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
