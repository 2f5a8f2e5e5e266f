import Values

// What a terminal needs besides what all read (`Messages/JSON/ValueReading.swift`).
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
