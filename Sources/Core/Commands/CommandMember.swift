import Messages

/// A member of a command's object: its name, what may stand there, what it is for.
public struct CommandMember: Sendable {
    public enum Kind: Sendable {
        case text
        case choice([String])
        case flag
        case whole(ClosedRange<Int>)
        case number(ClosedRange<Double>, unit: String)
        /// RFC 3339.
        case time
        case object
        /// As it is; looked at when the command is carried out.
        case any
    }

    public let name: String
    public let kind: Kind
    /// A few words; of an object also what an error says is missing.
    public let help: String
    /// Value when it is left out, for the documents.
    public let standard: String?
    public let isNeeded: Bool

    init(_ name: String, _ kind: Kind, _ help: String, standard: String? = nil, isNeeded: Bool = false) {
        (self.name, self.kind, self.help, self.standard, self.isNeeded) = (name, kind, help, standard, isNeeded)
    }

    /// Members of every command.
    public static let common = [
        CommandMember("id", .text, "the name of this request"),
        CommandMember("expires", .time, "later than that it is refused"),
        CommandMember("source", .text, "who asks"),
    ]

    /// Allowed values, in words.
    public var allowed: String {
        switch kind {
        case .text: "text"
        case .choice(let words): words.joined(separator: ", ")
        case .flag: "true or false"
        case .whole(let range): "\(range.lowerBound)…\(range.upperBound), a whole number"
        case .number(let range, let unit):
            "\(Self.text(range.lowerBound))…\(Self.text(range.upperBound)) \(unit)"
        case .time: "RFC 3339, such as 2026-01-05T10:20:30Z"
        case .object, .any: help
        }
    }

    /// Bounds of a number; nil for other kinds.
    public var range: ClosedRange<Double>? { if case .number(let range, _) = kind { range } else { nil } }

    /// Words to choose from; empty for other kinds.
    public var words: [String] { if case .choice(let words) = kind { words } else { [] } }

    static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
    }
}
