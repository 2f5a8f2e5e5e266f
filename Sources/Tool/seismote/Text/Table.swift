import Glibc

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

    /// All lines, indented by two.
    var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { c in rows.map { c < $0.count ? $0[c].count : 0 }.max() ?? 0 }
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
}
