/// Text of strangers for a terminal: without control characters, which could do anything there, and not without end.
func safe(_ text: String, limit: Int = 2000) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
        if count == limit { return result + "…" }
        count += 1
        let value = scalar.value
        // C0, DEL, C1, line separators, marks that turn the direction of text.
        let isHarmful =
            value < 0x20 || (0x7f...0x9f).contains(value) || (0x2028...0x202e).contains(value)
            || (0x2066...0x2069).contains(value)
        result.unicodeScalars.append(isHarmful ? "\u{fffd}" : scalar)
    }
    return result
}

/// The same line by line.
func safeLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { safe(String($0)) }.joined(separator: "\n")
}
