import Foundation
import Testing

@testable import Sensors

@Suite struct NumberTextTests {
    private func parse(_ text: String) -> Double? {
        Array(text.utf8).withUnsafeBytes { try? NumberText.double($0) }
    }

    @Test func correctlyRounded() {
        for text in [
            "0", "-0", "1", "+1.5", ".5", "5.", "-0.1", "1e3", "1E-3", "9.80665", "123456789012345678901234567890",
            "0.1000000000000000055511151231257827", "2.2250738585072011e-308", "4.9e-324", "1.7976931348623157e308",
            "9007199254740993", "9007199254740992.5", "1e23", "8.5e22", "0000000000000000000000001.5",
            "0.00000000000000000000000000001234", "6.0221409e+23", "1.000000000000000021e-02",
        ] {
            #expect(parse(text)?.bitPattern == Double(text)?.bitPattern, "\(text)")
        }
    }

    @Test func everyDoubleComesBack() {
        var noise = SeededNoise(seed: 4)
        for _ in 0..<20_000 {
            let value = Double(bitPattern: noise.bits())
            guard value.isFinite else { continue }
            #expect(parse("\(value)") == value)
            let near = Double(Int64(bitPattern: noise.bits()) >> 20) / 1e7
            #expect(parse("\(near)") == near)
            let fixed = String(format: "%.9f", near)
            #expect(parse(fixed) == Double(fixed))
        }
    }

    @Test func otherTextsAreNone() {
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "1,5", "0x10", "nan", "inf", "-Infinity", "1e400", "1 2", "1.2.3", "½",
        ] {
            #expect(parse(text) == nil, "\(text)")
        }
    }

    @Test func timesAreExact() throws {
        func time(_ text: String) -> StampedTime? { Array(text.utf8).withUnsafeBytes { TimeText.parse($0) } }
        let cases: [(String, Int, Int, Bool)] = [
            ("0.000000", 0, 1000, false), ("0.032", 32_000_000, 1_000_000, false),
            ("12", 12_000_000_000, 1_000_000_000, false),
            ("1.000000000000000021e-02", 10_000_000, 1, false), ("0.12345678949", 123_456_789, 1, false),
            ("0.1234567895", 123_456_790, 1, false), ("-2.5", -2_500_000_000, 100_000_000, false),
            ("1562383187.3683", 1_562_383_187_368_300_000, 100_000, true),
            ("2019-07-06T03:19:47.368300Z", 1_562_383_187_368_300_000, 1000, true),
            ("2019-07-06 03:19:47", 1_562_383_187_000_000_000, 1_000_000_000, true),
            ("2019-07-06T05:49:47.1234567891+02:30", 1_562_383_187_123_456_789, 1, true),
            ("2024-02-29T23:59:60z", 1_709_251_200_000_000_000, 1_000_000_000, true),
            ("1969-12-31T23:59:59.5Z", -500_000_000, 100_000_000, true),
        ]
        for (text, nanoseconds, quantum, absolute) in cases {
            let expected = StampedTime(nanoseconds: Int64(nanoseconds), quantum: Int64(quantum), absolute: absolute)
            #expect(time(text) == expected, "\(text)")
        }
        for text in [
            "2019-02-29T00:00:00Z", "2019-13-01T00:00:00Z", "2019-07-06T24:00:00Z", "2019-07-06T03:19:47.Z",
            "2019-07-06T03:19:47+25:00", "2019-07-06T03:19:47Zulu", "2019-07-06", "12:30", "1e12",
            "99999999999999999999",
        ] {
            #expect(time(text) == nil, "\(text)")
        }
    }
}
