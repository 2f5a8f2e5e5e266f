import Glibc

/// Base64 (RFC 4648, section 4).
public enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    public static func text(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        out.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var word: UInt32 = 0
            for i in 0..<3 { word = word << 8 | (i < part.count ? UInt32(part[start + i]) : 0) }
            for i in 0..<4 {
                out.append(i <= part.count ? letters[Int(word >> UInt32(18 - 6 * i) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The bytes; nil where the text is none.
    /// - Parameter isStrict: refuses white space, and padding that is missing or too long.
    public static func bytes(_ text: some Sequence<UInt8>, isStrict: Bool = false) -> [UInt8]? {
        var out: [UInt8] = []
        var (word, count, padding): (UInt32, Int, Int) = (0, 0, 0)
        for letter in text {
            let value: UInt8
            switch letter {
            case 0x41...0x5a: value = letter - 0x41
            case 0x61...0x7a: value = letter - 0x61 + 26
            case 0x30...0x39: value = letter - 0x30 + 52
            case 0x2b: value = 62
            case 0x2f: value = 63
            case 0x3d:
                padding += 1
                continue
            case 0x20, 0x09, 0x0a, 0x0d:
                if isStrict { return nil }
                continue
            default: return nil
            }
            if padding > 0 { return nil }
            word = word << 6 | UInt32(value)
            count += 1
            if count % 4 == 0 { out += [UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)] }
        }
        if isStrict, padding != (4 - count % 4) % 4 { return nil }
        switch count % 4 {
        case 2: out.append(UInt8(word >> 4 & 255))
        case 3: out += [UInt8(word >> 10 & 255), UInt8(word >> 2 & 255)]
        case 1: return nil
        default: break
        }
        return out
    }
}

/// Hexadecimal digits, two a byte.
public enum Hexadecimal {
    /// In lower case.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes; nil where something else is among the digits, or their number is odd.
    public static func bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var out: [UInt8] = []
        var high: UInt8?
        for letter in text {
            guard let value = value(letter) else { return nil }
            if let upper = high { out.append(upper << 4 | value) }
            high = high == nil ? value : nil
        }
        return high == nil ? out : nil
    }

    /// The value of a digit; nil for what is none.
    public static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - 55
        default: nil
        }
    }
}

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

/// Addresses of the internet as bytes.
package enum IPAddress {
    /// Four bytes or sixteen; nil: it is no address.
    package static func bytes(_ text: String) -> [UInt8]? {
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 { return withUnsafeBytes(of: short) { Array($0) } }
        var long = in6_addr()
        if inet_pton(AF_INET6, text, &long) == 1 { return withUnsafeBytes(of: long) { Array($0) } }
        return nil
    }
}

/// Names that nothing else in the world has, such as that of a run of a program.
public enum RandomUUID {
    /// A UUID of version 4 (RFC 9562), in lower case.
    public static func text() -> String {
        var text = ""
        for i in 0..<16 {
            var byte = UInt8.random(in: 0...255)
            if i == 6 { byte = byte & 0x0F | 0x40 }
            if i == 8 { byte = byte & 0x3F | 0x80 }
            if [4, 6, 8, 10].contains(i) { text += "-" }
            text += Hexadecimal.text([byte])
        }
        return text
    }
}
