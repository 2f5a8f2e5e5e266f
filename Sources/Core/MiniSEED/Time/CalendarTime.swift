/// A moment of UTC taken apart as miniSEED writes it: year, day of the year, time of day.
/// The proleptic Gregorian calendar; days by H. Hinnant, "chrono-compatible low-level date algorithms".
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
        let (seconds, fraction) = Self.floorDivide(Int(nanoseconds), 1_000_000_000)
        let (day, inDay) = Self.floorDivide(seconds, 86400)
        // A guess of the year that is at most one too early or too late.
        var year = 1970 + Self.floorDivide(day, 365).quotient
        while Self.daysBefore(year: year) > day { year -= 1 }
        while Self.daysBefore(year: year + 1) <= day { year += 1 }
        self.init(
            year: year, dayOfYear: day - Self.daysBefore(year: year) + 1, hour: inDay / 3600,
            minute: inDay % 3600 / 60, second: inDay % 60, nanosecond: fraction)
    }

    /// Nanoseconds since 1970-01-01; nil when a field is out of range or the time is not within Int64
    /// (1677 to 2262).
    var nanoseconds: Int64? {
        guard (1678...2261).contains(year), dayOfYear >= 1, dayOfYear <= (Self.isLeap(year) ? 366 : 365),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second),
            (0..<1_000_000_000).contains(nanosecond)
        else { return nil }
        let days = Self.daysBefore(year: year) + dayOfYear - 1
        return Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000_000 + Int64(nanosecond)
    }

    static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Days from 1970-01-01 to the first of January of a year.
    static func daysBefore(year: Int) -> Int {
        let y = year - 1
        let leaps = floorDivide(y, 4).quotient - floorDivide(y, 100).quotient + floorDivide(y, 400).quotient
        return 365 * (year - 1970) + leaps - 477
    }

    private static func floorDivide(_ a: Int, _ b: Int) -> (quotient: Int, remainder: Int) {
        let r = a % b
        return r < 0 ? (a / b - 1, r + b) : (a / b, r)
    }
}
