import Messages
import Values

/// Trees as YAML that fits on one line and reads back to the same tree.
enum YAMLText {
    static func flow(_ value: Value) -> String {
        switch value {
        case .string(let text): isPlain(text) ? text : json(value)
        case .array(let elements): "[" + elements.map(flow).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(flow(.string($0.key))): \(flow($0.value))" }.joined(separator: ", ") + "}"
        default: json(value)
        }
    }

    private static func json(_ value: Value) -> String { String(decoding: value.json(), as: UTF8.self) }

    /// Text that needs no quotes, wherever it stands, and stays text.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first != "-", first != ".", !text.hasSuffix(" ") else {
            return false
        }
        let isSafe = text.utf8.allSatisfy { $0.isOfID || "./+^ ".utf8.contains($0) }
        guard isSafe, first != " ", case .string = YAMLCoreSchema.resolve(text) else { return false }
        return true
    }
}
