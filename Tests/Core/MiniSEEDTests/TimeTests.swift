import Foundation
import TestSupport
import Testing

@testable import MiniSEED

@Suite struct TimeTests {
    @Test func calendarAgreesWithTheCLibrary() throws {
        var numbers = SplitMix64(state: 1)
        for _ in 0..<5000 {
            let seconds = Int.random(in: -9_000_000_000..<9_000_000_000, using: &numbers)
            let time = Int64(seconds) * 1_000_000_000 + Int64.random(in: 0..<1_000_000_000, using: &numbers)
            let calendar = CalendarTime(nanoseconds: time)
            var clock = time_t(seconds)
            var parts = tm()
            gmtime_r(&clock, &parts)
            #expect(calendar.year == Int(parts.tm_year) + 1900 && calendar.dayOfYear == Int(parts.tm_yday) + 1)
            #expect(calendar.hour == Int(parts.tm_hour) && calendar.minute == Int(parts.tm_min))
            #expect(calendar.second == Int(parts.tm_sec))
            #expect(calendar.nanoseconds == time)
        }
    }

    /// The days of all years that records can have follow one another.
    @Test func everyDayOfAllYears() {
        let first = CalendarTime(year: 1678, dayOfYear: 1, hour: 0, minute: 0, second: 0, nanosecond: 0)
        var time = first.nanoseconds ?? 0
        #expect(time < -9_000_000_000_000_000_000)
        for year in 1678...2261 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let days = isLeap ? 366 : 365
            for day in 1...days {
                for hour in [0, 23] {
                    let at = time + Int64(hour) * 3_600_000_000_000
                    let calendar = CalendarTime(
                        year: year, dayOfYear: day, hour: hour, minute: 0, second: 0, nanosecond: 0)
                    if calendar.nanoseconds != at || CalendarTime(nanoseconds: at) != calendar {
                        Issue.record("\(year) \(day) \(hour)")
                    }
                }
                time += 86_400_000_000_000
            }
            let beyond = CalendarTime(year: year, dayOfYear: days + 1, hour: 0, minute: 0, second: 0, nanosecond: 0)
            if beyond.nanoseconds != nil { Issue.record("\(year)") }
        }
    }

    @Test func impossibleTimesAreNone() {
        for (year, day, hour, second, nanosecond) in [
            (2025, 366, 0, 0, 0), (2024, 367, 0, 0, 0), (2024, 0, 0, 0, 0), (2024, 1, 24, 0, 0), (2024, 1, 0, 61, 0),
            (2024, 1, 0, 0, 1_000_000_000), (65535, 1, 0, 0, 0), (0, 1, 0, 0, 0),
        ] {
            let time = CalendarTime(
                year: year, dayOfYear: day, hour: hour, minute: 0, second: second, nanosecond: nanosecond)
            #expect(time.nanoseconds == nil)
        }
    }

    @Test func timelineDoesNotDrift() {
        for (numerator, denominator) in [(100, 1), (125, 4), (30, 1), (200, 3), (1, 10), (1000, 1)] {
            let timeline = SampleTimeline(start: 5, rate: Double(numerator) / Double(denominator))
            for index in [0, 1, 2, 3, 999, 8_640_000, 1_000_000_000] {
                // index × denominator × 10⁹ / numerator, rounded, in integers.
                if index / 1000 * denominator > 1_000_000 * numerator { continue }  // beyond Int64
                let exact = (index * denominator * 1_000_000_000 + numerator / 2) / numerator
                #expect(abs(Int(timeline.time(of: index)) - 5 - exact) <= (index > 100_000_000 ? 2 : 0))
                #expect(timeline.nearestIndex(to: timeline.time(of: index)) == index)
            }
        }
    }
}
