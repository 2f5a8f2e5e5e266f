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
