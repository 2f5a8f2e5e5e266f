import Glibc

/// Decimal numbers in text, correctly rounded, whatever the process's locale.
enum NumberText {
    /// Reason why a text is not a number.
    enum Failure: Error { case notANumber, notFinite }

    /// Powers of ten that a double holds exactly.
    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The C locale, for `strtod`; it lives as long as the process. The address as an integer, because a pointer
    /// would not be Sendable.
    private static let plainLocale = UInt(bitPattern: newlocale(1 << LC_NUMERIC, "C", nil))

    /// Sign, digits with at most one point, exponent: the number as digits × 10^exponent.
    struct Parts {
        var negative = false
        /// The first 19 significant digits.
        var digits: UInt64 = 0
        var exponent = 0
        /// There were more significant digits than fit.
        var cut = false
        /// Digits behind the point.
        var decimals = 0
        var hasExponent = false
    }

    /// Reads the whole text; nil when it is not a decimal number.
    /// - Parameter decimalComma: a comma is taken for a point.
    static func parts(_ text: UnsafeRawBufferPointer, decimalComma: Bool = false) -> Parts? {
        var parts = Parts()
        var index = 0
        let count = text.count
        if index < count, text[index] == 0x2D || text[index] == 0x2B {
            parts.negative = text[index] == 0x2D
            index += 1
        }
        var (any, point, kept) = (false, false, 0)
        while index < count {
            let byte = text[index]
            if byte >= 0x30, byte <= 0x39 {
                any = true
                if point { parts.decimals += 1 }
                if kept < 19 {
                    parts.digits = parts.digits * 10 + UInt64(byte - 0x30)
                    if parts.digits > 0 { kept += 1 }
                    if point { parts.exponent -= 1 }
                } else {
                    if byte != 0x30 { parts.cut = true }
                    if !point { parts.exponent += 1 }
                }
            } else if byte == 0x2E || decimalComma && byte == 0x2C, !point {
                point = true
            } else {
                break
            }
            index += 1
        }
        guard any else { return nil }
        if index < count, text[index] | 0x20 == 0x65 {
            index += 1
            var negative = false
            if index < count, text[index] == 0x2D || text[index] == 0x2B {
                negative = text[index] == 0x2D
                index += 1
            }
            var exponent = 0
            let first = index
            while index < count, text[index] >= 0x30, text[index] <= 0x39 {
                exponent = min(exponent * 10 + Int(text[index] - 0x30), 100_000)
                index += 1
            }
            guard index > first else { return nil }
            parts.exponent += negative ? -exponent : exponent
            parts.hasExponent = true
        }
        return index == count ? parts : nil
    }

    /// The nearest double of a whole text.
    static func double(_ text: UnsafeRawBufferPointer, decimalComma: Bool = false) throws(Failure) -> Double {
        guard let parts = parts(text, decimalComma: decimalComma) else {
            throw isNamedNonNumber(text) ? .notFinite : .notANumber
        }
        if !parts.cut, parts.digits <= 1 << 53, parts.exponent >= -22, parts.exponent <= 22 {
            // Both factors are exact, so one rounding is all there is. W. D. Clinger, PLDI 1990.
            let digits = Double(parts.digits)
            let value = parts.exponent < 0 ? digits / powers[-parts.exponent] : digits * powers[parts.exponent]
            return parts.negative ? -value : value
        }
        guard let value = byLibrary(text), value.isFinite else { throw .notFinite }
        return value
    }

    /// `strtod` on a copy that ends in zero.
    private static func byLibrary(_ text: UnsafeRawBufferPointer) -> Double? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: text.count + 1) { copy -> Double? in
            for index in 0..<text.count { copy[index] = CChar(bitPattern: text[index] == 0x2C ? 0x2E : text[index]) }
            copy[text.count] = 0
            guard let base = copy.baseAddress else { return nil }
            let before = uselocale(locale_t(bitPattern: plainLocale))
            defer { uselocale(before) }
            return strtod(base, nil)
        }
    }

    /// `nan`, `inf`, `infinity` with or without a sign, in any case.
    private static func isNamedNonNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        let letters = text.first == 0x2D || text.first == 0x2B ? text.dropFirst() : text[...]
        guard letters.count <= 8 else { return false }
        return ["nan", "inf", "infinity"].contains { $0.utf8.elementsEqual(letters.map { $0 | 0x20 }) }
    }
}
