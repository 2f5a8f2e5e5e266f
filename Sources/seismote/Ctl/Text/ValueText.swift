import Messages
import Settings

/// A result as lines of YAML, indented by two, safe to print; small objects stay on their line.
func readable(_ value: Value) -> String {
    let text = YAMLDocument.text(value) { _, object in
        YAMLDocument.line(object).count <= 70 && (object.members ?? []).allSatisfy { $0.value.members == nil }
    }
    return safeLines(text).split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
}

/// The same of a tree of settings: a setting is never broken over several lines.
func settingsText(_ tree: Value) -> String {
    safeLines(YAMLDocument.text(tree) { key, _ in SettingsTable.setting(key) != nil })
}
