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

/// Times of the samples of a regular series: integer arithmetic from the index alone, so that nothing accumulates
/// and every way of cutting the series into blocks gives the same nanoseconds.
public struct SampleTimeline: Sendable, Equatable {
    /// Time of sample 0 in nanoseconds.
    public let start: Int64
    /// Samples per second.
    public let rate: Double
    /// The sample interval in units of 2⁻³⁰ ns.
    private let interval: UInt64

    /// Rates that a timeline can have, in Hz.
    public static let rates = 0.1...1_000_000.0

    /// - Parameter rate: samples per second; limited to `rates`.
    public init(start: Int64, rate: Double) {
        self.start = start
        self.rate = min(max(rate, Self.rates.lowerBound), Self.rates.upperBound)
        // At most 1.1e19, below 2⁶⁴; exact wherever the interval is a whole number of nanoseconds.
        interval = UInt64((1e9 * Double(1 << 30) / self.rate).rounded())
    }

    /// Time of a sample in nanoseconds, rounded to the nearest.
    /// - Parameter index: at least 0; 0 is the first sample.
    public func time(of index: Int) -> Int64 { start &+ offset(of: index) }

    /// Nanoseconds from sample 0 to a sample, rounded to the nearest.
    public func offset(of index: Int) -> Int64 {
        let product = UInt64(max(0, index)).multipliedFullWidth(by: interval)
        let (low, carry) = product.low.addingReportingOverflow(1 << 29)
        let high = product.high &+ (carry ? 1 : 0)
        return Int64(truncatingIfNeeded: high << 34 | low >> 30)
    }

    /// The sample whose time is nearest to a time in nanoseconds; negative before the start.
    public func nearestIndex(to time: Int64) -> Int {
        let span = Double(time &- start)
        let index = (span * rate / 1e9).rounded()
        return abs(index) < 9e15 ? Int(index) : (index < 0 ? -9_000_000_000_000_000 : 9_000_000_000_000_000)
    }
}
