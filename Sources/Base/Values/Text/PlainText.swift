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
