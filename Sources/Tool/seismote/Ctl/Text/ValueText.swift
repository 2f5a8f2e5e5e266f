import Messages
import Settings
import Values

/// A result as lines of YAML, indented by two, safe to print; small objects stay on their line.
func readable(_ value: Value) -> String {
    let text = YAMLDocument.text(value) { _, object in
        YAMLDocument.line(object).count <= 70 && (object.members ?? []).allSatisfy { $0.value.members == nil }
    }
    return safeLines(text).split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
}

/// The same of a tree of settings: a setting is never broken over several lines.
/// - Parameter group: the key of the tree; nil for all settings.
func settingsText(_ tree: Value, below group: String? = nil) -> String {
    safeLines(
        YAMLDocument.text(tree) { key, _ in SettingsTable.setting(group.map { "\($0).\(key)" } ?? key) != nil })
}
