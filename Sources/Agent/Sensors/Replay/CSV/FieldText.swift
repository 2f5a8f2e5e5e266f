import Glibc
import Values

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

/// A moment as a recording writes it.
struct StampedTime: Equatable {
    /// Nanoseconds: since 1970 when absolute, else since the recording's own zero.
    var nanoseconds: Int64
    /// Smallest step that the text can express, in nanoseconds.
    var quantum: Int64
    var absolute: Bool
    /// Seconds since midnight, which begin anew each day.
    var isOfDay = false
}

/// Times in text: seconds, or date and time of day after ISO 8601 and RFC 3339.
enum TimeText {
    /// Seconds from here on (1973) count from 1970.
    private static let absoluteFrom: Int64 = 100_000_000_000_000_000

    /// The unit of a plain number.
    enum Unit: Int, Equatable {
        /// The power of ten of a nanosecond.
        case nanoseconds = 0, microseconds = 3, milliseconds = 6, seconds = 9
    }

    /// - Parameter unit: of a plain number; nil: seconds, or what it must be to lie between 1990 and 2100 where it is
    ///   too large for seconds.
    static func parse(_ text: UnsafeRawBufferPointer, unit: Unit? = .seconds) -> StampedTime? {
        if let parts = NumberText.parts(text, decimalComma: true) {
            guard let unit = unit ?? Self.unit(of: parts) else { return nil }
            return number(parts, text, unit)
        }
        return date(text) ?? timeOfDay(text)
    }

    private static func unit(of parts: NumberText.Parts) -> Unit? {
        guard !parts.cut, parts.exponent <= 0, parts.exponent > -19 else { return .seconds }
        var value = Double(parts.digits)
        for _ in 0..<(-parts.exponent) { value /= 10 }
        switch value {
        case ..<1e10: return .seconds
        case 6.3e11...4.1e12: return .milliseconds
        case 6.3e14...4.1e15: return .microseconds
        case 6.3e17...4.1e18: return .nanoseconds
        default: return nil
        }
    }

    /// A number to integer nanoseconds, without a detour over a rounded double where the text allows it.
    private static func number(
        _ parts: NumberText.Parts, _ text: UnsafeRawBufferPointer, _ unit: Unit
    ) -> StampedTime? {
        if !parts.hasExponent, !parts.cut {
            var value = parts.digits
            var exponent = parts.exponent + unit.rawValue
            while exponent > 0 {
                let (product, overflow) = value.multipliedReportingOverflow(by: 10)
                guard !overflow else { return nil }
                value = product
                exponent -= 1
            }
            if exponent < 0 {
                var divisor: UInt64 = 1
                for _ in 0..<min(-exponent, 19) { divisor *= 10 }
                value = exponent < -19 ? 0 : value / divisor + (value % divisor >= divisor / 2 ? 1 : 0)
            }
            guard value < 9_000_000_000_000_000_000 else { return nil }
            var quantum: Int64 = 1
            for _ in 0..<max(0, unit.rawValue - parts.decimals) { quantum *= 10 }
            return stamp(parts.negative ? -Int64(value) : Int64(value), quantum)
        }
        var nanoseconds = 1.0
        for _ in 0..<unit.rawValue { nanoseconds *= 10 }
        guard let value = try? NumberText.double(text, decimalComma: true), abs(value) * nanoseconds < 9e18 else {
            return nil
        }
        return stamp(Int64((value * nanoseconds).rounded()), max(1, Int64((value.ulp * nanoseconds).rounded(.up))))
    }

    private static func stamp(_ nanoseconds: Int64, _ quantum: Int64) -> StampedTime {
        StampedTime(nanoseconds: nanoseconds, quantum: quantum, absolute: nanoseconds >= absoluteFrom)
    }

    /// `2026-01-05T10:20:30.12Z`: also with a space or nothing for the `T` and `Z`, and with an offset from UTC.
    private static func date(_ text: UnsafeRawBufferPointer) -> StampedTime? {
        guard text.count >= 19, text[4] == 0x2D || text[4] == 0x2F, text[7] == text[4], text[13] == 0x3A,
            text[16] == 0x3A,
            text[10] | 0x20 == 0x74 || text[10] == 0x20,
            let year = digits(text, 0..<4), let month = digits(text, 5..<7), let day = digits(text, 8..<10),
            let hour = digits(text, 11..<13), let minute = digits(text, 14..<16), let second = digits(text, 17..<19),
            (1678...2261).contains(year), (1...12).contains(month), day >= 1,
            day <= Timestamp.daysIn(month: month, year: year), hour <= 23,
            minute <= 59, second <= 60
        else { return nil }
        var index = 19
        var (fraction, quantum): (Int64, Int64) = (0, 1_000_000_000)
        if index < text.count, text[index] == 0x2E || text[index] == 0x2C {
            index += 1
            let first = index
            while index < text.count, text[index] >= 0x30, text[index] <= 0x39 {
                if quantum > 1 {
                    quantum /= 10
                    fraction += Int64(text[index] - 0x30) * quantum
                } else if index == first + 9, text[index] >= 0x35 {
                    fraction += 1
                }
                index += 1
            }
            guard index > first else { return nil }
        }
        guard let offset = zone(text, from: index) else { return nil }
        let days = Timestamp.days(year: year, month: month, day: day)
        let total = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
        return StampedTime(
            nanoseconds: Int64(total) * 1_000_000_000 + fraction, quantum: quantum, absolute: true)
    }

    /// `14:05:09.25` and Physics Toolbox's `14:05:09:250`: seconds since midnight.
    private static func timeOfDay(_ text: UnsafeRawBufferPointer) -> StampedTime? {
        let first = text.count > 1 && text[1] == 0x3A ? 1 : 2
        guard text.count >= first + 6, text[first] == 0x3A, text[first + 3] == 0x3A,
            let hour = digits(text, 0..<first), let minute = digits(text, first + 1..<first + 3),
            let second = digits(text, first + 4..<first + 6), hour <= 23, minute <= 59, second <= 60
        else { return nil }
        var index = first + 6
        var (fraction, quantum): (Int64, Int64) = (0, 1_000_000_000)
        if index < text.count {
            guard [0x2E, 0x2C, 0x3A].contains(text[index]), index + 1 < text.count, text.count - index <= 10 else {
                return nil
            }
            index += 1
            while index < text.count {
                guard text[index] >= 0x30, text[index] <= 0x39 else { return nil }
                quantum /= 10
                fraction += Int64(text[index] - 0x30) * quantum
                index += 1
            }
        }
        let total = (hour * 60 + minute) * 60 + second
        return StampedTime(
            nanoseconds: Int64(total) * 1_000_000_000 + fraction, quantum: quantum, absolute: false, isOfDay: true)
    }

    /// Minutes that the local time is ahead of UTC; nil when the text is no offset.
    private static func zone(_ text: UnsafeRawBufferPointer, from index: Int) -> Int? {
        if index == text.count { return 0 }
        let sign = text[index]
        if sign | 0x20 == 0x7A { return index + 1 == text.count ? 0 : nil }
        guard sign == 0x2B || sign == 0x2D, let hours = digits(text, index + 1..<index + 3) else { return nil }
        var rest = index + 3
        if rest < text.count, text[rest] == 0x3A { rest += 1 }
        let minutes = rest == text.count ? 0 : rest + 2 == text.count ? digits(text, rest..<rest + 2) : nil
        guard let minutes, hours <= 23, minutes <= 59 else { return nil }
        return (sign == 0x2D ? -1 : 1) * (hours * 60 + minutes)
    }

    private static func digits(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        guard range.upperBound <= text.count else { return nil }
        var value = 0
        for index in range {
            guard text[index] >= 0x30, text[index] <= 0x39 else { return nil }
            value = value * 10 + Int(text[index] - 0x30)
        }
        return value
    }
}
