import Messages
import Values

/// Subscription of a client by one `STATION`, or of all stations without one: which of them, which channels, and from
/// where to where.
struct SeedLinkSubscription: Sendable {
    enum Start: Equatable {
        case next, earliest
        case sequence(UInt64)
    }

    /// Codes, with `*` and `?`.
    let network: String
    let station: String
    /// They have neither, and are compared as they are.
    private let isExact: Bool
    var selectors: [StreamPattern] = []
    /// It has been said where to begin.
    var isReady = false
    var start = Start.next
    /// Nanoseconds of UTC; nil: open.
    var begin: Int64?
    var end: Int64?
    /// Ends where there is no more.
    var isFetch = false

    static let all = Self(network: "*", station: "*")

    init(network: String, station: String) {
        (self.network, self.station) = (network, station)
        isExact = !(network + station).utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
    }

    func matches(_ station: FeedStation) -> Bool {
        if isExact { return self.station == station.code && network == station.network }
        return Glob.matches(network, station.network) && Glob.matches(self.station, station.code)
    }

    func selects(location: String, channel: String) -> Bool {
        StreamPattern.selects(selectors, location: location, channel: channel)
    }

    /// The number of the packet to begin with.
    /// - Parameters:
    ///   - index: the station's place in the archive.
    ///   - isNew: the station has come while packets are being sent: it is new from its first packet on.
    ///   - isVersion4: numbers are whole; else they have 24 bits.
    func first(
        of station: FeedStation, at index: Int, isNew: Bool, isVersion4: Bool, _ archive: some FeedArchive
    ) -> UInt64 {
        var first = station.first
        switch start {
        case .earliest: break
        case .next: if !isNew, !isFetch, begin == nil { first = station.last + 1 }
        case .sequence(let number):
            let full = isVersion4 ? number : Self.whole(number, near: station.last + 1)
            first = full >= station.first && full <= station.last + 1 ? full : station.first
            if full > station.last + 1, isVersion4 { first = station.last + 1 }
            // The number says better than a time where to go on.
            if first > station.first { return first }
        }
        guard let begin else { return first }
        return archive.sequence(of: index, reaching: begin) ?? station.last + 1
    }

    /// The number with these 24 bits that is nearest to another, and not above it.
    private static func whole(_ number: UInt64, near newest: UInt64) -> UInt64 {
        let full = newest & ~0xFF_FFFF | number
        if full <= newest { return full }
        return full >= 0x100_0000 ? full - 0x100_0000 : full
    }

    /// Whether all channels have come to the end of the time that is asked for.
    func isOver(_ station: FeedStation) -> Bool {
        isOver(station) { selects(location: $0.location, channel: $0.channel) }
    }

    /// - Parameter selects: whether a channel is asked for, where that is known already.
    func isOver(_ station: FeedStation, selects: (FeedStream) -> Bool) -> Bool {
        guard let end else { return false }
        let streams = station.streams.filter(selects)
        return !streams.isEmpty && streams.allSatisfy { $0.end > end }
    }
}

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
