/// An instant as people and messages write it: nanoseconds of UTC since 1970-01-01, leap seconds not counted.
///
/// The civil calendar is the proleptic Gregorian one, computed with Howard Hinnant's days-from-civil arithmetic
/// (`chrono`-compatible low-level date algorithms). `Int64` reaches from 1677-09-21 to 2262-04-11.
public struct Timestamp: Sendable, Equatable, Comparable {
    /// Nanoseconds since 1970-01-01T00:00:00Z; negative before.
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Nanoseconds from 1920 to 2199: any two times in this range have a difference that `Int64` can hold.
    public static var sensible: ClosedRange<Int64> { -1_577_923_200_000_000_000...7_258_118_399_999_999_999 }

    public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The fields of the calendar.
    package struct Civil {
        package var year: Int
        /// 1 to 12.
        package var month: Int
        /// 1 to 31.
        package var day: Int
        package var hour: Int
        package var minute: Int
        package var second: Int
        package var nanosecond: Int
    }

    package var civil: Civil {
        let (seconds, nanosecond) = Self.floorDivide(nanoseconds, 1_000_000_000)
        let (days, secondOfDay) = Self.floorDivide(seconds, 86_400)
        // Civil from days: eras of 400 years that begin on 1 March.
        let z = days + 719_468
        let (era, dayOfEra) = Self.floorDivide(z, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return Civil(
            year: Int(year), month: Int(month), day: Int(day), hour: Int(secondOfDay / 3600),
            minute: Int(secondOfDay / 60 % 60), second: Int(secondOfDay % 60), nanosecond: Int(nanosecond))
    }

    /// Days from 1970-01-01 to a date of the calendar.
    package static func days(year: Int, month: Int, day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = a.quotientAndRemainder(dividingBy: b)
        return remainder < 0 ? (quotient - 1, remainder + b) : (quotient, remainder)
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339, such as `2026-01-05T10:20:30.120000000Z`.
    public var description: String { withText { String(decoding: $0, as: UTF8.self) } }

    /// As in event ids, `20260105T102030120Z`: to the millisecond, cut off, no dots.
    public var stamp: String {
        let c = civil
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 19) { text in
            Self.digits(c.year, 4, into: text, at: 0)
            Self.digits(c.month, 2, into: text, at: 4)
            Self.digits(c.day, 2, into: text, at: 6)
            text[8] = UInt8(ascii: "T")
            Self.digits(c.hour, 2, into: text, at: 9)
            Self.digits(c.minute, 2, into: text, at: 11)
            Self.digits(c.second, 2, into: text, at: 13)
            Self.digits(c.nanosecond / 1_000_000, 3, into: text, at: 15)
            text[18] = UInt8(ascii: "Z")
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Gives a body the 30 ASCII bytes of the RFC 3339 text, without touching the heap.
    func withText<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        let c = civil
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 30) { text in
            Self.digits(c.year, 4, into: text, at: 0)
            text[4] = UInt8(ascii: "-")
            Self.digits(c.month, 2, into: text, at: 5)
            text[7] = UInt8(ascii: "-")
            Self.digits(c.day, 2, into: text, at: 8)
            text[10] = UInt8(ascii: "T")
            Self.digits(c.hour, 2, into: text, at: 11)
            text[13] = UInt8(ascii: ":")
            Self.digits(c.minute, 2, into: text, at: 14)
            text[16] = UInt8(ascii: ":")
            Self.digits(c.second, 2, into: text, at: 17)
            text[19] = UInt8(ascii: ".")
            Self.digits(c.nanosecond, 9, into: text, at: 20)
            text[29] = UInt8(ascii: "Z")
            return body(UnsafeRawBufferPointer(text))
        }
    }

    private static func digits(_ value: Int, _ width: Int, into text: UnsafeMutableBufferPointer<UInt8>, at start: Int)
    {
        var rest = value
        for i in (start..<start + width).reversed() {
            text[i] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }
}

extension Timestamp {
    /// Reads an RFC 3339 time: `T`, `t` or a blank between date and time, any number of decimals (cut off after nine),
    /// `Z` or an offset such as `+01:00`. A leap second (`:60`) becomes the first moment of the next minute. Nil when
    /// the text is not such a time, or lies outside what 64 bits of nanoseconds hold.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8({ Self.parse($0) }) else { return nil }
        nanoseconds = value
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var reader = Reader(text: text)
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
            let second = reader.number(2)
        else { return nil }
        guard (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var fraction = 0
        if reader.take(".") {
            guard let decimals = reader.decimals() else { return nil }
            fraction = decimals
        }
        guard let offset = reader.offset(), reader.atEnd else { return nil }
        let seconds =
            days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        // Before 1970 the whole seconds may lie just below the range while the sum is still inside it.
        let (whole, rest) = seconds < 0 && fraction > 0 ? (seconds + 1, fraction - 1_000_000_000) : (seconds, fraction)
        let (product, tooLarge) = Int64(whole).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow) = product.addingReportingOverflow(Int64(rest))
        return tooLarge || overflow ? nil : sum
    }

    package static func daysIn(month: Int, year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private struct Reader {
        let text: UnsafeBufferPointer<UInt8>
        var position = 0

        var atEnd: Bool { position == text.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func digit() -> Int? {
            guard position < text.count, text[position].isDigit else { return nil }
            position += 1
            return Int(text[position - 1] - UInt8(ascii: "0"))
        }

        mutating func number(_ width: Int) -> Int? {
            var value = 0
            for _ in 0..<width {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        /// The decimals of a second as nanoseconds, at least one of them.
        mutating func decimals() -> Int? {
            guard var value = digit() else { return nil }
            var width = 1
            while let digit = digit() {
                guard width < 9 else { continue }
                value = value * 10 + digit
                width += 1
            }
            for _ in width..<9 { value *= 10 }
            return value
        }

        /// Seconds that local time is ahead of UTC.
        mutating func offset() -> Int? {
            if take("Z") || take("z") { return 0 }
            let sign: Int
            if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
            guard let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
                return nil
            }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}
