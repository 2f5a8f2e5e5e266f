import Messages
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
