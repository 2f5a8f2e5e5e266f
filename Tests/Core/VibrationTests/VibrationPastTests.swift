import Testing

@testable import Vibration

/// What goes on over a restart of the agent.
@Suite struct VibrationPastTests {
    private static let day: Int64 = 86_400_000_000_000

    /// - Parameters:
    ///   - hour: of day 19 000, UTC.
    ///   - fourth: of each axis, m⁴/s⁷.
    private static func interval(hour: Double, ppv: Double = 1, fourth: Double = 1) -> VibrationInterval {
        var interval = VibrationInterval()
        interval.start = 19_000 * day + Int64(hour * 3_600e9)
        (interval.length, interval.seconds) = (60, 59)
        for k in 0..<3 {
            (interval.axes[k].ppv, interval.axes[k].doseFourth) = (ppv, fourth * Double(k + 1))
        }
        return interval
    }

    private static func past(_ intervals: [VibrationInterval], offset: Double = 0) -> VibrationPast {
        var past = VibrationPast(VibrationMeasurement(), offset: offset)
        for one in intervals { past.add(one) }
        return past
    }

    /// Wherever the agent was started anew, the sums are those of all.
    @Test func cutAnywhereTheSumsAreTheSame() {
        let all = [5.5, 6.9, 7, 8, 12, 22.9, 23, 23.5, 25, 30.9, 31, 40].enumerated().map {
            Self.interval(hour: $1, ppv: Double(20 - $0), fourth: Double($0 + 1))
        }
        for count in 1...all.count {
            let whole = Self.past(Array(all[..<count]))
            for cut in 0...count {
                var rest = Self.past(Array(all[cut..<count]))
                rest.join(Self.past(Array(all[..<cut])))
                #expect(rest.period.seconds == whole.period.seconds)
                #expect(rest.period.doses == whole.period.doses, "\(count) \(cut)")
                #expect(rest.floor.values(axis: 0) == whole.floor.values(axis: 0), "\(count) \(cut)")
                #expect(rest.newest == whole.newest)
            }
        }
    }

    @Test func yesterdaysFloorIsJoinedToTodays() {
        var today = Self.past((0..<3).map { Self.interval(hour: 24 + Double($0), ppv: 7) })
        #expect(today.floor.values(axis: 2) == nil)
        today.join(Self.past([Self.interval(hour: 1, ppv: 5), Self.interval(hour: 2, ppv: 6)]))
        #expect(today.floor.values(axis: 2)?.ppv == 5)
        // Of the day before that nothing counts.
        var later = Self.past((0..<5).map { Self.interval(hour: 48 + Double($0), ppv: 7) })
        later.join(Self.past([Self.interval(hour: 1, ppv: 5)]))
        #expect(later.floor.values(axis: 2)?.ppv == 7)
    }

    /// What was measured in another way does not mix with the rest.
    @Test func otherWaysOfMeasuring() {
        let before = Self.past([Self.interval(hour: 12, ppv: 1, fourth: 80)])
        func after(_ change: (inout VibrationMeasurement) -> Void, offset: Double = 0) -> VibrationPast {
            var measurement = VibrationMeasurement()
            change(&measurement)
            var past = VibrationPast(measurement, offset: offset)
            for _ in 0..<4 { past.add(Self.interval(hour: 13, ppv: 2, fourth: 0.25)) }
            past.join(before)
            return past
        }
        #expect(after { _ in }.period.doses[0] == 3 && after { _ in }.floor.values(axis: 0)?.ppv == 1)
        // Another band: the dose goes on, the floor does not.
        let band = after { $0.band = .machine }
        #expect(band.period.doses[0] == 3 && band.floor.values(axis: 0) == nil)
        let length = after { $0.interval = 10 }
        #expect(length.period.doses[0] == 3 && length.floor.values(axis: 0) == nil)
        // Other weightings, or other days: neither.
        #expect(after { $0.weightings = [.wm, .wm, .wm] }.period.doses[0] == 1)
        #expect(after({ _ in }, offset: 1).period.doses[0] == 1)
    }

    @Test func aDoseAloneIsNoFloor() {
        var past = Self.past([])
        for _ in 0..<9 { past.add(Self.interval(hour: 12), isDoseAlone: true) }
        #expect(past.floor.values(axis: 0) == nil && past.period.seconds == 9 * 59)
    }
}
