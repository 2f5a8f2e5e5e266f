import Values

/// A moment of UTC taken apart as miniSEED writes it: year, day of the year, time of day.
/// The proleptic Gregorian calendar of ``Timestamp``.
package struct CalendarTime: Equatable {
    package var year: Int
    /// 1 is the first of January.
    package var dayOfYear: Int
    var hour: Int
    var minute: Int
    /// 0 to 60; 60 in a leap second.
    var second: Int
    var nanosecond: Int

    init(year: Int, dayOfYear: Int, hour: Int, minute: Int, second: Int, nanosecond: Int) {
        self.year = year
        self.dayOfYear = dayOfYear
        self.hour = hour
        self.minute = minute
        self.second = second
        self.nanosecond = nanosecond
    }

    /// - Parameter nanoseconds: since 1970-01-01, leap seconds not counted.
    package init(nanoseconds: Int64) {
        let civil = Timestamp(nanoseconds: nanoseconds).civil
        let day = Timestamp.days(year: civil.year, month: civil.month, day: civil.day)
        self.init(
            year: civil.year, dayOfYear: day - Self.daysBefore(year: civil.year) + 1, hour: civil.hour,
            minute: civil.minute, second: civil.second, nanosecond: civil.nanosecond)
    }

    /// Nanoseconds since 1970-01-01; nil when a field is out of range or the time is not within Int64
    /// (1677 to 2262).
    var nanoseconds: Int64? {
        guard (1678...2261).contains(year), dayOfYear >= 1,
            Self.daysBefore(year: year) + dayOfYear <= Self.daysBefore(year: year + 1), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second), (0..<1_000_000_000).contains(nanosecond)
        else { return nil }
        let days = Self.daysBefore(year: year) + dayOfYear - 1
        return Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000_000 + Int64(nanosecond)
    }

    /// Days from 1970-01-01 to the first of January of a year.
    private static func daysBefore(year: Int) -> Int { Timestamp.days(year: year, month: 1, day: 1) }
}
