import Foundation
import TestSupport
import Testing

@testable import Seismology

@Suite struct ArrivalPickerTests {
    /// Noise of 1 mm/s², from `arrival` (s) on a wave of 5 Hz on all axes; the onset 0.6 s after it, and `after` (s) more.
    private func record(
        rate: Double, strength: Double, arrival: Double = 12, after: Double = 0, gap: Int? = nil
    ) -> EventRecord {
        var random = SplitMix64(state: 26_006)
        var record = EventRecord(rate: rate, capacity: 100_000)
        let onset = Int((arrival + 0.6) * rate)
        for i in 0...onset + Int(after * rate) {
            if i == onset { record.markOnset() }
            let t = Double(i) / rate - arrival
            let axes = (0..<3).map { axis -> Double in
                let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0...1, using: &random) } * 1e-3
                return noise + (t < 0 ? 0 : strength * sin(2 * .pi * 5 * t + Double(axis)))
            }
            let index = Int64(i) + (gap.map { i >= $0 } == true ? 100 : 0)
            record.append(axes[0], axes[1], axes[2], time: index, index: index)
        }
        return record
    }

    @Test(arguments: [31.25, 100, 200, 500, 1000]) func findsTheArrival(rate: Double) throws {
        for strength in [0.005, 0.05, 2] {
            var picker = ArrivalPicker(rate: rate)
            let found = picker.pick(record(rate: rate, strength: strength))
            let pick = try #require(found)
            #expect(abs(pick.time + 0.6) <= max(0.03, 1.5 / rate), "\(strength): \(pick)")
            #expect(pick.sigma >= 0.03 && pick.sigma < (strength < 0.01 ? 0.5 : 0.1), "\(strength): \(pick)")
        }
    }

    /// What cannot be told well says so, and later samples tell it better.
    @Test func theUncertaintyIsThatOfTheMoment() throws {
        var picker = ArrivalPicker(rate: 100)
        let (early, later) = (
            picker.pick(record(rate: 100, strength: 0.0025)), picker.pick(record(rate: 100, strength: 0.0025, after: 4))
        )
        let (first, last) = (try #require(early), try #require(later))
        #expect(last.sigma < first.sigma)
        #expect(abs(first.time + 0.6) < 2 * first.sigma && abs(last.time + 0.6) < 2 * last.sigma)
        // More than five seconds after the onset change nothing; and nothing is left of a pick in the picker.
        let full = picker.pick(record(rate: 100, strength: 0.0025, after: 5))
        let more = picker.pick(record(rate: 100, strength: 0.0025, after: 9))
        #expect(more == full && picker.pick(record(rate: 100, strength: 0.0025)) == early)
    }

    @Test func tooLittleBeforeTheOnsetIsNoPick() {
        var picker = ArrivalPicker(rate: 100)
        #expect(picker.pick(record(rate: 100, strength: 1, arrival: 2)) == nil)
        #expect(picker.pick(record(rate: 100, strength: 1, arrival: 3)) != nil)
        #expect(picker.pick(record(rate: 100, strength: 1, gap: 1100)) == nil)
        #expect(picker.pick(record(rate: 100, strength: 1, gap: 900)) != nil)
        #expect(picker.pick(EventRecord(rate: 100, capacity: 10)) == nil)
        var slow = ArrivalPicker(rate: 1.5)
        #expect(slow.pick(record(rate: 1.5, strength: 1)) == nil)
    }
}
