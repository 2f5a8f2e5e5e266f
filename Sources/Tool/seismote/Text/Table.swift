import Glibc
import Messages
import Settings
import Values

/// A number with a fixed count of decimals; `-` where there is none.
func fixed(_ number: Double?, _ decimals: Int) -> String {
    guard let number, !number.isNaN else { return "-" }
    guard number.isFinite else { return number < 0 ? "-∞" : "∞" }
    return printed("%.\(decimals)f", number)
}

/// A number with a count of significant digits.
func significant(_ number: Double, _ digits: Int) -> String {
    let text = printed("%.\(digits)g", number)
    // (C writes 170 with two digits as 1.7e+02.)
    guard text.contains("e"), let rounded = Double(text), abs(rounded) < 1e15, abs(rounded) >= 1e-9 else { return text }
    let power = Int(log10(abs(rounded)).rounded(.down))
    let plain = printed("%.\(max(0, digits - 1 - power))f", rounded)
    guard plain.contains(".") else { return plain }
    let kept = plain.reversed().drop { $0 == "0" }.drop { $0 == "." }
    return String(kept.reversed())
}

private func printed(_ format: String, _ number: Double) -> String {
    var buffer = [CChar](repeating: 0, count: 400)
    let count = withVaList([number]) { vsnprintf(&buffer, buffer.count, format, $0) }
    return String(decoding: buffer.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Lines of text in columns.
struct Table {
    private var rows: [[String]]
    /// Columns whose text begins at the left; numbers end at the right.
    private let left: Set<Int>

    init(_ header: [String], left: Set<Int> = []) {
        rows = [header]
        self.left = left
    }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// All lines, indented by two, as wide as they are, but on a terminal as it has room for.
    var text: String { text(width: Terminal.width ?? .max) }

    /// Where the lines are longer than that, a paragraph for each row: its first cell, and below it the others by the names
    /// of their columns.
    func text(width: Int) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { c in rows.map { c < $0.count ? $0[c].count : 0 }.max() ?? 0 }
        if widths.reduce(0, { $0 + $1 + 2 }) > width { return paragraphs(width: width) }
        return rows.map { row in
            var line = ""
            for (c, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[c] - cell.count)
                let isLast = c == row.count - 1
                line += "  " + (left.contains(c) ? cell + (isLast ? "" : space) : space + cell)
            }
            return line
        }.joined(separator: "\n")
    }

    private func paragraphs(width: Int) -> String {
        let header = rows.first ?? []
        let names = header.dropFirst().map(\.count).max() ?? 0
        let indent = 6 + names
        var lines: [String] = []
        for row in rows.dropFirst() {
            lines.append("  " + (row.first ?? ""))
            for (c, cell) in row.enumerated().dropFirst() where !cell.isEmpty && cell != "-" {
                let name = c < header.count ? header[c] : ""
                let start = "    \(name)\(String(repeating: " ", count: names - name.count))  "
                lines.append(start + wrapped(cell, width: width, indent: indent))
            }
        }
        return lines.joined(separator: "\n")
    }
}

/// A text broken at its spaces, so that no line is longer; all lines but the first begin with blanks.
/// - Parameters:
///   - width: characters of a line, with its blanks.
///   - indent: the blanks, which the first line has already.
func wrapped(_ text: String, width: Int, indent: Int) -> String {
    let room = max(16, width == .max ? .max : width - indent)
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        var lines = [""]
        for word in line.split(separator: " ", omittingEmptySubsequences: false) {
            if lines[lines.count - 1].isEmpty || lines[lines.count - 1].count + 1 + word.count <= room {
                lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
    }.joined(separator: "\n" + String(repeating: " ", count: indent))
}

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

extension String {
    /// Safe to print.
    var printable: String { safe(self) }
}

extension [String] {
    var printable: [String] { map { safe($0) } }
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

/// The same of nanoseconds of UTC.
func dateAndTime(_ time: Int64?) -> String { dateAndTime(time.map { Timestamp(nanoseconds: $0).description }) }
