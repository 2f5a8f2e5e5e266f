import Foundation
import TestSupport
import Testing

@testable import Values

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000000Z"), (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
            (951_868_799_999_999_999, "2000-02-29T23:59:59.999999999Z"),
            (1_709_164_800_000_000_001, "2024-02-29T00:00:00.000000001Z"),
            (1_767_608_430_120_000_000, "2026-01-05T10:20:30.120000000Z"),
            (4_107_542_399_000_000_000, "2100-02-28T23:59:59.000000000Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z"),
            (-2_203_891_200_000_000_000, "1900-03-01T00:00:00.000000000Z"),
            (Int64.max, "2262-04-11T23:47:16.854775807Z"), (Int64.min, "1677-09-21T00:12:43.145224192Z"),
        ] as [(Int64, String)])
    func textAndBack(_ nanoseconds: Int64, _ text: String) {
        #expect(Timestamp(nanoseconds: nanoseconds).description == text)
        #expect(Timestamp(text)?.nanoseconds == nanoseconds)
    }

    /// The C library's calendar over the whole range.
    @Test func agreesWithTheCLibrary() {
        var generator = SplitMix64(state: 3)
        for _ in 0..<20_000 {
            let nanoseconds = Int64(bitPattern: generator.next())
            var seconds = time_t(nanoseconds / 1_000_000_000)
            if nanoseconds % 1_000_000_000 < 0 { seconds -= 1 }
            var fields = tm()
            gmtime_r(&seconds, &fields)
            let civil = Timestamp(nanoseconds: nanoseconds).civil
            #expect(civil.year == Int(fields.tm_year) + 1900)
            #expect(civil.month == Int(fields.tm_mon) + 1)
            #expect(civil.day == Int(fields.tm_mday))
            #expect(civil.hour == Int(fields.tm_hour))
            #expect(civil.minute == Int(fields.tm_min))
            #expect(civil.second == Int(fields.tm_sec))
            #expect(Timestamp(Timestamp(nanoseconds: nanoseconds).description)?.nanoseconds == nanoseconds)
        }
    }

    @Test(arguments: [
        ("2026-01-05T10:20:30Z", "2026-01-05T10:20:30.000000000Z"),
        ("2026-01-05t10:20:30.5z", "2026-01-05T10:20:30.500000000Z"),
        ("2026-01-05 10:20:30.1234567899Z", "2026-01-05T10:20:30.123456789Z"),
        ("2026-01-05T00:20:30+01:30", "2026-01-04T22:50:30.000000000Z"),
        ("2026-01-05T23:20:30-01:00", "2026-01-06T00:20:30.000000000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000000Z"),
    ])
    func otherSpellings(_ text: String, _ expected: String) {
        #expect(Timestamp(text)?.description == expected)
    }

    @Test(arguments: [
        "", "2026", "2026-01-05", "2026-01-05T10:20:30", "2026-1-05T10:20:30Z", "2026-13-05T10:20:30Z",
        "2026-00-05T10:20:30Z", "2026-02-29T10:20:30Z", "2100-02-29T10:20:30Z", "2026-04-31T10:20:30Z",
        "2026-01-00T10:20:30Z", "2026-01-05T24:00:00Z", "2026-01-05T10:60:30Z", "2026-01-05T10:20:61Z",
        "2026-01-05T10:20:30.Z", "2026-01-05T10:20:30Zx", "2026-01-05T10:20:30+0100", "2026-01-05T10:20:30+24:00",
        "2300-01-01T00:00:00Z", "1600-01-01T00:00:00Z", "-026-01-05T10:20:30Z", "２０２６-01-05T10:20:30Z",
        "2262-04-11T23:47:16.854775808Z", "1677-09-21T00:12:43.145224191Z",
    ])
    func whatIsNotATime(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func stampsHaveMillisecondsAndNoDots() {
        #expect(Timestamp(nanoseconds: 1_767_608_430_120_999_999).stamp == "20260105T102030120Z")
        #expect(Timestamp(nanoseconds: -1).stamp == "19691231T235959999Z")
    }

    /// From 1900 to 2200 it is more nanoseconds than `Int64` has; what is taken from outside is subtracted unchecked.
    @Test func differencesOfSensibleTimesDoNotOverflow() {
        let (first, last) = (Timestamp.sensible.lowerBound, Timestamp.sensible.upperBound)
        #expect(!last.subtractingReportingOverflow(first).overflow)
        #expect(!first.subtractingReportingOverflow(last).overflow)
        #expect(Timestamp(nanoseconds: first).description == "1920-01-01T00:00:00.000000000Z")
        #expect(Timestamp(nanoseconds: last).description == "2199-12-31T23:59:59.999999999Z")
    }
}
