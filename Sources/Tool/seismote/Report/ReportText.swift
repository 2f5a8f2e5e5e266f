import Values

/// Texts that all parts of a report write in the same way.
enum ReportText {
    /// - Parameter reason: a last cell of text that may be long.
    static func row(_ cells: [String], isOver: Bool = false, reason: String? = nil) -> String {
        "<tr\(isOver ? " class=\"over\"" : "")>" + cells.map { "<td>\($0)</td>" }.joined()
            + (reason.map { "<td class=\"text\">\($0)</td>" } ?? "") + "</tr>\n"
    }

    /// With the names of the columns.
    static func table(_ names: [String], _ rows: String) -> String {
        "<table><thead><tr>" + names.map { "<th>\($0)</th>" }.joined() + "</tr></thead>\n" + rows + "</table>\n"
    }

    /// `2026-01-05 10:20:30`.
    static func moment(_ time: Int64) -> String {
        let text = String(describing: Timestamp(nanoseconds: time))
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8)
    }

    /// With so many decimals.
    static func number(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "…" }
        let scale = (0..<decimals).reduce(1.0) { one, _ in one * 10 }
        let whole = Int64((abs(value) * scale).rounded())
        var digits = String(whole)
        while digits.count <= decimals { digits = "0" + digits }
        if decimals > 0 { digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -decimals)) }
        return (value < 0 && whole != 0 ? "−" : "") + digits
    }

    /// Text with the characters of HTML escaped: words of a station or a file are not HTML.
    static func escaped(_ text: String) -> String {
        var all = ""
        for character in text {
            switch character {
            case "<": all += "&lt;"
            case ">": all += "&gt;"
            case "&": all += "&amp;"
            case "\"": all += "&quot;"
            default: all.append(character)
            }
        }
        return all
    }
}
