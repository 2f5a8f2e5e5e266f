import Foundation
import Testing

@testable import seismote_notify

@Suite struct CivilTimeTests {
    /// Day, minute and weekday beside Foundation's calendar, before and after 1970, with an offset that changes.
    @Test func asTheCalendarHasIt() throws {
        let zone = try #require(TimeZone(identifier: "America/St_Johns"))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let clock = CivilTime { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0 / 1_000_000_000))) }
        for step in -3000..<9000 {
            let seconds = Int64(step) * 199_999
            let parts = calendar.dateComponents(
                [.hour, .minute, .weekday], from: Date(timeIntervalSince1970: Double(seconds)))
            let time = seconds * 1_000_000_000
            #expect(clock.minute(time) == (parts.hour ?? 0) * 60 + (parts.minute ?? 0), "\(seconds)")
            #expect(clock.weekday(time) == ((parts.weekday ?? 0) + 5) % 7, "\(seconds)")
        }
    }

    @Test func stretchesOfTheDay() throws {
        let night = try #require(DayTime("22:00-07:00"))
        let inside = (0..<1440).filter { night.contains($0) }
        #expect(inside.count == 540 && inside.contains(0) && inside.contains(1320) && !inside.contains(420))
        let noon = try #require(DayTime("12:00-13:30"))
        #expect((0..<1440).filter { noon.contains($0) } == Array(720..<810))
        for wrong in [
            "", "22:00", "22:00-22:00", "24:00-07:00", "7:00-8:00", "22:00-07:00-08:00", "aa:00-07:00", "22:60-07:00",
        ] {
            #expect(DayTime(wrong) == nil, "\(wrong)")
        }
        for wrong in ["", "mon", "monday 12:00", "mon 24:00", "mon 12:00 x"] {
            #expect(WeekTime(wrong) == nil, "\(wrong)")
        }
    }
}
