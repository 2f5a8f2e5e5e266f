import Messages
import Settings
import Values

/// Text of strangers for a terminal: without control characters, which could do anything there, and not without end.
func safe(_ text: String, limit: Int = 2000) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
        if count == limit { return result + "…" }
        count += 1
        result.unicodeScalars.append(scalar.isUnprintable ? "\u{fffd}" : scalar)
    }
    return result
}

/// The same line by line.
func safeLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { safe(String($0)) }.joined(separator: "\n")
}

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

// For a terminal, besides what all read (`Values/Value.swift`).
extension Value {
    /// Safe to print.
    var text: String? {
        guard case .string(let text) = self else { return nil }
        return safe(text)
    }

    var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The texts of a list, safe to print.
    var texts: [String] { (list ?? []).compactMap(\.text) }

    /// One or several levels down.
    subscript(path: String...) -> Value? {
        var node: Value? = self
        for key in path { node = node?[key] }
        return node
    }

    /// Compact JSON, safe to print: what is unprintable is escaped.
    var jsonText: String { String(decoding: json(), as: UTF8.self) }
}

/// The time of day of an RFC 3339 time, `12:34:56`.
func timeOfDay(_ text: String?) -> String {
    guard let text, let time = Timestamp(text) else { return "-" }
    return String(time.description.dropFirst(11).prefix(8))
}

/// Date and time without decimals, `2026-01-05 10:20:30`.
func dateAndTime(_ text: String?) -> String {
    guard let text, let time = Timestamp(text) else { return "-" }
    let all = time.description
    return all.prefix(10) + " " + all.dropFirst(11).prefix(8)
}
