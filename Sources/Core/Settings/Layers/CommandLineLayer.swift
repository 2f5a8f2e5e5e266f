import Messages
import Values

/// `--set key=value`.
enum CommandLineLayer {
    /// The tree that one such text stands for.
    static func document(_ text: String) throws(CodedError) -> Document {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw CodedError(
                "", .syntax, "Not a setting: `\(text.prefix(80))`.", allowed: "key=value, such as trace.rate_hz=10")
        }
        let key = text[..<equals]
        let pointer = JSONPointer.of(key: String(key))
        let parts = key.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= ReadingLimit.depth, parts.allSatisfy({ !$0.isEmpty }) else {
            throw CodedError("", .syntax, "Not the key of a setting: `\(key.prefix(80))`.")
        }
        let written = String(text[text.index(after: equals)...])
        var value = Value.null
        if written.contains(where: { $0 != " " }) {
            do {
                value = try YAMLReader.read(Array(written.utf8)).root
            } catch {
                var located = error
                located.path = pointer + error.path
                (located.line, located.column) = (nil, nil)
                throw located
            }
        }
        return Document(root: SettingsTree.putting(value, at: parts, into: [:]))
    }
}
