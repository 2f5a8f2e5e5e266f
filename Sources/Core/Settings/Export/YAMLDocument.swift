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
