import Messages
import Values

/// Times as SeedLink writes them.
enum SeedLinkTime {
    /// `2026,11,23,06,31,48` with decimals or without, or RFC 3339. Nil for what is no time.
    static func read(_ text: Substring) -> Int64? {
        Int64.time(of: String(text)) { parse($0[...]) }
    }

    private static func parse(_ text: Substring) -> Int64? {
        if let time = Timestamp(String(text)) { return time.nanoseconds }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard (3...6).contains(parts.count) else { return nil }
        let date = parts.enumerated().map { index, part in
            String(repeating: "0", count: max(0, (index == 0 ? 4 : 2) - part.utf8.count)) + part
        }
        let clock = Array(date.dropFirst(3)) + ["00", "00", "00"]
        return Timestamp("\(date[0])-\(date[1])-\(date[2])T\(clock[0]):\(clock[1]):\(clock[2])Z")?.nanoseconds
    }

    /// `2026/11/23 06:31:48.1234`
    static func text(_ time: Int64) -> String {
        let text = Timestamp(nanoseconds: time).description
        return text.dropLast(6).map { $0 == "-" ? "/" : $0 == "T" ? " " : "\($0)" }.joined()
    }
}
