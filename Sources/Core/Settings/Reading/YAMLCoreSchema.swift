import Values

/// Meaning of plain (unquoted) YAML text by the core schema of YAML 1.2.2, section 10.3.2: only `true` and `false` are
/// truth values (`yes`, `no`, `on` and `off` are text), `0o17` is octal and `017` is seventeen.
enum YAMLCoreSchema {
    static func resolve(_ text: String) -> Value {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case ".nan", ".NaN", ".NAN": return .double(.nan)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .double(.infinity)
        case "-.inf", "-.Inf", "-.INF": return .double(-.infinity)
        default: return number(text) ?? .string(text)
        }
    }

    private static func number(_ text: String) -> Value? {
        guard text.utf8.count <= 400 else { return nil }
        if text.hasPrefix("0o"), let value = Int64(digits: text.dropFirst(2), radix: 8) { return .int(value) }
        if text.hasPrefix("0x"), let value = Int64(digits: text.dropFirst(2), radix: 16) { return .int(value) }
        guard let shape = DecimalNumber(text) else { return nil }
        if shape.isInteger, let value = Int64(text) { return .int(value) }
        return Double(text).map { .double($0) }
    }
}

extension Int64 {
    /// Digits alone, no sign.
    fileprivate init?(digits: Substring, radix: Int) {
        guard let first = digits.first, first != "+", first != "-" else { return nil }
        self.init(digits, radix: radix)
    }
}

/// The shape `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?` of a decimal number.
struct DecimalNumber {
    /// Neither point nor exponent.
    let isInteger: Bool
    /// Up to the `e`.
    let mantissa: Substring
    /// After the `e`, 0 when there is none; nil when it does not fit.
    let exponent: Int?

    /// The whole text must have the shape.
    init?(_ text: some StringProtocol) {
        guard let (number, rest) = Self.prefix(of: Substring(text)), rest.isEmpty else { return nil }
        self = number
    }

    private init(isInteger: Bool, mantissa: Substring, exponent: Int?) {
        self.isInteger = isInteger
        self.mantissa = mantissa
        self.exponent = exponent
    }

    /// The longest number at the start of a text, and what comes after it.
    static func prefix(of text: Substring) -> (DecimalNumber, rest: Substring)? {
        let utf8 = text.utf8
        var i = utf8.startIndex
        func digit(_ at: Substring.Index) -> Bool { at < utf8.endIndex && utf8[at].isDigit }
        func sign(_ at: Substring.Index) -> Bool { at < utf8.endIndex && (utf8[at] == 43 || utf8[at] == 45) }
        func skipDigits() -> Int {
            var n = 0
            while digit(i) {
                i = utf8.index(after: i)
                n += 1
            }
            return n
        }
        if sign(i) { i = utf8.index(after: i) }
        var digits = skipDigits()
        var isInteger = true
        if i < utf8.endIndex, utf8[i] == UInt8(ascii: ".") {
            isInteger = false
            i = utf8.index(after: i)
            let fraction = skipDigits()
            if digits == 0, fraction == 0 { return nil }
            digits += fraction
        }
        guard digits > 0 else { return nil }
        let mantissa = text[..<i]
        var exponent: Int? = 0
        if i < utf8.endIndex, utf8[i] | 0x20 == UInt8(ascii: "e") {
            let e = i
            i = utf8.index(after: i)
            let start = i
            if sign(i) { i = utf8.index(after: i) }
            if skipDigits() > 0 {
                exponent = Int(text[start..<i])
                isInteger = false
            } else {
                i = e
            }
        }
        return (DecimalNumber(isInteger: isInteger, mantissa: mantissa, exponent: exponent), text[i...])
    }
}
