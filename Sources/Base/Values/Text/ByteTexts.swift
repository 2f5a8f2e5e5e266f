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
