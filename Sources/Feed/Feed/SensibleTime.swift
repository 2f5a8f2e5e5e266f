import Values

extension Int64 {
    /// Whether it is a time in nanoseconds that the feed takes (``Timestamp/sensible``).
    var isSensibleTime: Bool { Timestamp.sensible.contains(self) }

    /// A sensible time that a client has written. Years such as 2599 and 2999, which programs write for an open end and
    /// nanoseconds do not reach, are the last time that is sensible; years before 1920 the first.
    /// - Parameters:
    ///   - text: begins with four digits of the year.
    ///   - read: nanoseconds of a text of the years from 1920 to 2199; nil for what is no time.
    static func time(of text: String, _ read: (String) -> Int64?) -> Int64? {
        let digits = text.utf8.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0.isDigit }), let year = Int(String(text.prefix(4))),
            !(1920...2199).contains(year)
        else {
            guard let time = read(text), time.isSensibleTime else { return nil }
            return time
        }
        // The rest of it has to be right all the same; a leap year has a 29 February.
        let isLeap = Timestamp.daysIn(month: 2, year: year) == 29
        guard read((isLeap ? "2000" : "2001") + text.dropFirst(4)) != nil else { return nil }
        return year < 1920 ? Timestamp.sensible.lowerBound : Timestamp.sensible.upperBound
    }
}
