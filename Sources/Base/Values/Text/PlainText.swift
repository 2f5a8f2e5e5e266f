// Kinds of bytes in ids, names and codes. (The `Character` properties of Swift take letters of all scripts.)
extension UInt8 {
    /// 0 to 9.
    public var isDigit: Bool { (0x30...0x39).contains(self) }
    public var isCapital: Bool { (0x41...0x5A).contains(self) }
    public var isSmallLetter: Bool { (0x61...0x7A).contains(self) }
    /// A letter or digit of ASCII.
    public var isAlphanumeric: Bool { isDigit || isCapital || isSmallLetter }
    /// As ids have it, which become levels of topics: a letter, a digit, `_` or `-`.
    public var isOfID: Bool { isAlphanumeric || self == 0x5F || self == 0x2D }
    /// ASCII that is seen; a space is not.
    public var isVisible: Bool { (0x21...0x7E).contains(self) }
}

extension StringProtocol {
    /// Whether the text has so many bytes, and each is one of these.
    public func isMade(_ count: ClosedRange<Int>, of isAllowed: (UInt8) -> Bool) -> Bool {
        count.contains(utf8.count) && utf8.allSatisfy(isAllowed)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal or a reader of a line could be deceived by it: control characters (C0, DEL, C1), separators of
    /// lines, and the marks that turn the direction of text. Text from outside is shown without them: JSON has them as
    /// `\u009b`, a line of the log too, the tool's tables have � instead.
    public var isUnprintable: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f, 0x061c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// `\u009b`, for one of those, which all have four digits.
    public var escape: String {
        var text = String(value, radix: 16)
        text = String(repeating: "0", count: max(0, 4 - text.utf8.count)) + text
        return "\\u" + text
    }
}

extension String {
    /// Whether another text is in this one, byte for byte. `contains` with a text would link the engine of regular
    /// expressions into the agent: 1.2 MB for a few questions.
    package func hasText(_ other: String) -> Bool {
        let (text, wanted) = (Array(utf8), Array(other.utf8))
        guard wanted.count <= text.count else { return false }
        return (0...text.count - wanted.count).contains { text[$0..<$0 + wanted.count] == wanted[...] }
    }
}
