import Messages
import Settings
import Values

/// From the bytes of a command to what they ask for. Pure; nothing in the bytes is trusted.
public enum CommandDecoder {
    /// The readable part of a command; the id also of a command with errors, so that they can be answered.
    public struct Decoded: Sendable, Equatable {
        public var id: String?
        /// Nil when there are errors.
        public var request: CommandRequest?
        public var errors: [CodedError] = []
    }

    /// - Parameters:
    ///   - verb: behind `cmd/`, not known to be the name of a command.
    ///   - payload: empty stands for `{}`.
    public static func decode(verb text: String, payload: [UInt8]) -> Decoded {
        var decoded = Decoded()
        var root: Value = .object([])
        if !payload.isEmpty {
            do throws(ReadingError) { root = try JSONReader.read(payload) } catch {
                decoded.errors = [CodedError("", error.kind == .tooLarge ? .tooLarge : .syntax, error.message)]
                if let line = error.line {
                    decoded.errors[0].message += " (line \(line), column \(error.column ?? 0))"
                }
                return decoded
            }
        }
        var fields = CommandFields(root)
        for member in CommandMember.common {
            fields.read(member)
            guard member.name == "id", let id = fields.members.text("id") else { continue }
            if let allowed = Topics.problem(inRequestID: id) {
                fields.add(
                    CodedError(
                        "/id", .range, "`\(id.prefix(80))` cannot be the id of a command.",
                        got: Value.string(id).shown, allowed: allowed))
            } else {
                decoded.id = id
            }
        }
        guard let command = Command.named(text) else {
            let shown = String(text.prefix(80))
            let names = Command.all.map(\.name)
            decoded.errors =
                [
                    CodedError(
                        "", .unknownKey, "There is no command `\(shown)`.", got: .string(shown),
                        allowed: names.joined(separator: ", "), nearest: Spelling.nearest(to: text, in: names))
                ] + fields.errors
            return decoded
        }
        if command.needsID, !fields.members.has("id") {
            fields.missing("id", "a name for the topic that the data go to")
        }
        for member in command.members { fields.read(member) }
        fields.add(command.check(fields.members))
        if case .object = root { fields.finish() }
        decoded.errors = fields.errors
        guard decoded.errors.isEmpty else { return decoded }
        decoded.request = CommandRequest(
            command: command, members: fields.members, id: decoded.id, expires: fields.members.time("expires"),
            source: Self.line(fields.members.text("source") ?? ""), digest: digest(command, root))
        return decoded
    }

    /// A sentence of the requester's as one short line.
    private static func line(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(100) {
            line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7f ? " " : scalar)
        }
        return line
    }

    private static func digest(_ command: Command, _ root: Value) -> String {
        guard case .object(let members) = root else { return command.name }
        let common = CommandMember.common.map(\.name)
        let rest = members.filter { !common.contains($0.key) }
        return "\(command.name) " + SHA256.hexDigest(of: Value.object(rest).canonicalJSON()).prefix(16)
    }
}

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

/// The members of a command that were given, each of its kind and within its bounds.
public struct CommandMembers: Sendable, Equatable {
    private var values: [Value.Member] = []
    /// Also those with errors.
    private var given: [String] = []

    init() {}

    mutating func note(_ name: String, _ value: Value?) {
        given.append(name)
        if let value { values.append(.init(name, value)) }
    }

    /// Puts them in the order in which they were written.
    mutating func order(as keys: [String]) {
        values = keys.compactMap { key in values.first { $0.key == key } }
    }

    /// Whether it was given, right or wrong.
    func has(_ name: String) -> Bool { given.contains(name) }

    subscript(name: String) -> Value? { values.first { $0.key == name }?.value }

    func number(_ name: String) -> Double? { self[name]?.number }

    func whole(_ name: String) -> Int? { self[name]?.integer.flatMap { Int(exactly: $0) } }

    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

    func flag(_ name: String) -> Bool { self[name] == true }

    /// Nanoseconds of UTC.
    func time(_ name: String) -> Int64? { text(name).flatMap { Timestamp($0)?.nanoseconds } }

    /// Members of these names, as an object, in the order in which they were written.
    func object(of names: [String]) -> Value { .object(values.filter { names.contains($0.key) }) }
}

extension CommandMembers {
    /// Fault of `from` and `to`, both of which may be missing.
    func orderProblem() -> CodedError? {
        guard let from = time("from"), let to = time("to"), to < from else { return nil }
        return CodedError("/to", .crossField, "`to` must not be earlier than `from`.")
    }
}

extension CodedError {
    /// As a reply says it. What was given for a secret is not told to everybody who can read the reply.
    public var told: CodedError {
        var told = self
        let isSecret = SettingsTable.setting(path.split(separator: "/").joined(separator: "."))?.isSecret ?? false
        told.got = isSecret ? nil : got?.shown
        return told
    }
}

extension CodedErrors {
    public var told: [CodedError] { errors.map(\.told) }
}
