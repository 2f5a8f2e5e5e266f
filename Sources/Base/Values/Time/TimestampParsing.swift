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

        init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

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
