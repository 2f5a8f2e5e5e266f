import Values

/// A selector of channels, as SeedLink 3 (`00HN?.D`) or 4 (`00_H_N_*`) writes it.
struct StreamPattern: Sendable, Equatable {
    private var isNegative = false
    private var isVersion4: Bool
    private var location: [UInt8] = []
    private var channel: [UInt8] = []
    /// Only other kinds of record than data, or another format than ours: nothing matches.
    private var isEmpty = false

    /// - Returns: nil for what is no selector.
    init?(_ text: Substring, version4: Bool) {
        isVersion4 = version4
        var rest = text
        if rest.first == "!" {
            isNegative = true
            rest = rest.dropFirst()
        }
        guard (1...32).contains(rest.utf8.count) else { return nil }
        if version4 {
            if let colon = rest.firstIndex(of: ":") {
                // No filter but "as it is".
                guard rest[rest.index(after: colon)...] == "native" else { return nil }
                rest = rest[..<colon]
            }
            if let dot = rest.firstIndex(of: ".") {
                isEmpty = !["2D", "2", "2?", "*", "??"].contains(rest[rest.index(after: dot)...])
                rest = rest[..<dot]
            }
            channel = Array(rest.utf8)
            guard !channel.isEmpty, channel.allSatisfy(Self.isPattern) else { return nil }
            return
        }
        if let dot = rest.firstIndex(of: ".") {
            let kind = rest[rest.index(after: dot)...]
            guard kind.utf8.count == 1 else { return nil }
            isEmpty = kind != "D" && kind != "?" && kind != "*"
            rest = rest[..<dot]
        }
        let codes = Array(rest.utf8)
        guard codes.allSatisfy(Self.isPattern) else { return nil }
        switch codes.count {
        case 0: break
        case 1 where codes == [UInt8(ascii: "*")]: break
        case 3: channel = codes
        case 5: (location, channel) = (Array(codes[0..<2]), Array(codes[2...]))
        case 2: location = codes
        default: return nil
        }
    }

    private static func isPattern(_ byte: UInt8) -> Bool { byte.isOfID || "?*".utf8.contains(byte) }

    /// Whether some selectors let a channel through: none is refused, and one is asked for where any is.
    static func selects(_ patterns: [StreamPattern], location: String, channel: String) -> Bool {
        var (isAsked, hasPositive) = (false, false)
        // Both are made once, not for each pattern.
        let codes = (Array(location.utf8), Array(channel.utf8))
        let stream = Array(FeedStream(location: location, channel: channel, begin: 0, end: 0).identifier.utf8)
        for one in patterns {
            let isMatch = one.matches(codes.0, codes.1, stream)
            if one.isNegative {
                if isMatch { return false }
            } else {
                hasPositive = true
                isAsked = isAsked || isMatch
            }
        }
        return isAsked || !hasPositive
    }

    private func matches(_ location: [UInt8], _ channel: [UInt8], _ stream: [UInt8]) -> Bool {
        if isEmpty { return false }
        if isVersion4 { return Glob.matches(self.channel, stream) }
        return Self.matches(self.location, location) && Self.matches(self.channel, channel)
    }

    private static func matches(_ pattern: [UInt8], _ code: [UInt8]) -> Bool {
        for (place, wanted) in pattern.enumerated() {
            let has = place < code.count ? code[place] : UInt8(ascii: " ")
            guard
                wanted == has || wanted == UInt8(ascii: "?") || wanted == UInt8(ascii: "*")
                    || wanted == UInt8(ascii: "-") && has == UInt8(ascii: " ")
            else { return false }
        }
        return true
    }
}

/// Patterns with `*` and `?`, in time that grows with the product of both lengths at most.
enum Glob {
    static func matches(_ pattern: String, _ text: String) -> Bool { matches(Array(pattern.utf8), Array(text.utf8)) }

    static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
        var (p, t) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while t < text.count {
            if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
                star = (p, t)
                p += 1
            } else if p < pattern.count, pattern[p] == text[t] || pattern[p] == UInt8(ascii: "?") {
                (p, t) = (p + 1, t + 1)
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                (p, t) = (last.pattern + 1, last.text + 1)
            } else {
                return false
            }
        }
        while p < pattern.count, pattern[p] == UInt8(ascii: "*") { p += 1 }
        return p == pattern.count
    }
}
