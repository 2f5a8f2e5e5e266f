import Messages
import Values

/// Trees of settings as YAML that people read and edit.
public enum YAMLDocument {
    /// The tree of a text (YAML 1.2, so JSON too), read with the bounds and refusals of the settings file.
    ///
    /// - Throws: an error of code `syntax` or `tooLarge`, with line and column.
    public static func read(_ bytes: [UInt8]) throws(CodedError) -> Value { try YAMLReader.read(bytes).root }

    /// A tree on one line.
    public static func line(_ value: Value) -> String { YAMLText.flow(value) }

    /// A tree over several lines, each ended: objects by indentation, everything else on its line.
    ///
    /// - Parameter isWhole: says of an object, by its key such as `axes.x.filter`, that it stays on one line.
    public static func text(_ value: Value, isWhole: (String, Value) -> Bool = { _, _ in false }) -> String {
        guard case .object(let members) = value, !members.isEmpty else { return line(value) + "\n" }
        var text = ""
        append(members, "", "", &text, isWhole)
        return text
    }

    private static func append(
        _ members: [Value.Member], _ parent: String, _ indent: String, _ text: inout String,
        _ isWhole: (String, Value) -> Bool
    ) {
        for member in members {
            let key = SettingsTree.joined(parent, member.key)
            text += indent + line(.string(member.key)) + ":"
            if case .object(let inner) = member.value, !inner.isEmpty, !isWhole(key, member.value) {
                text += "\n"
                append(inner, key, indent + "  ", &text, isWhole)
            } else {
                text += " " + line(member.value) + "\n"
            }
        }
    }
}

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
