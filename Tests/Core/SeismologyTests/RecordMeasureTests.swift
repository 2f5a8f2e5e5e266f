import Foundation
import Seismology
import Testing

@Suite struct RecordMeasureTests {
    private func record(_ z: [Double], onset: Int = 0, gapAt gap: Int? = nil, axis: Int = 2) -> EventRecord {
        var record = EventRecord(rate: 100, capacity: z.count)
        for (i, a) in z.enumerated() {
            if i == onset { record.markOnset() }
            let index = Int64(i) + (gap.map { i >= $0 } == true ? 500 : 0)
            record.append(
                axis == 0 ? a : 0, axis == 1 ? a : 0, axis == 2 ? a : 0, time: index * 10_000_000, index: index)
        }
        return record
    }

    // MARK: Significant duration

    @Test func ofABoxAreSeventyAndNinetyPercentOfItsLength() throws {
        let box = [Double](repeating: 0, count: 300) + [Double](repeating: -2, count: 1001) + [0, 0, 0]
        let d = try #require(record(box, axis: 1).significantDurations(axis: 1))
        #expect(abs(d.to75 - 7) <= 0.0101 && abs(d.to95 - 9) <= 0.0101)
        #expect(record(box).significantDurations(axis: 0) == nil)
    }

    /// A gap of five seconds in the middle of a box: its time counts, its motion is not known.
    @Test func theTimeOfAGapCounts() throws {
        let box = [Double](repeating: 1, count: 1001)
        let whole = try #require(record(box).significantDurations(axis: 2))
        let torn = try #require(record(box, gapAt: 500).significantDurations(axis: 2))
        #expect(abs(torn.to95 - whole.to95 - 5) < 0.011 && abs(torn.to75 - whole.to75 - 5) < 0.011)
    }

    // MARK: First motion

    private func noise(_ n: Int) -> [Double] {
        var state: UInt64 = 7
        return (0..<n).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (Double(state >> 40) / Double(1 << 24) - 0.5) * 2e-3
        }
    }

    /// Noise of 10 s, then a wave whose first half cycle has the sign asked for; the detector is 1.5 s late.
    private func arrival(_ sign: Double, axis: Int = 2, rise: Double = 0, gapAt gap: Int? = nil) -> EventRecord {
        var z = noise(1200)
        for i in 850..<1200 {
            let t = Double(i - 850) / 100
            let envelope = rise > 0 ? min(1, exp((t - 2) / rise)) : 1
            z[i] += sign * 0.1 * envelope * sin(2 * .pi * 4 * t)
        }
        return record(z, onset: 1000, gapAt: gap, axis: axis)
    }

    @Test(arguments: [1.0, -1], [0, 1, 2]) func isTheSideOfTheFirstHalfCycle(sign: Double, axis: Int) throws {
        let first = try #require(arrival(sign, axis: axis).firstMotion())
        #expect(first.axis == axis && first.positive == (sign > 0))
        #expect((849...851).contains(first.place))
    }

    @Test func ofAnEmergentArrivalIsNotKnown() {
        #expect(arrival(1, rise: 0.3).firstMotion() == nil)
    }

    @Test func isNotKnownWithoutQuietBefore() {
        #expect(arrival(1, gapAt: 700).firstMotion() == nil)
        #expect(record(noise(400), onset: 150).firstMotion() == nil)
        #expect(record(noise(2000), onset: 1000).firstMotion() == nil)
    }

    @Test func theVerticalIsTakenUnlessAHorizontalMovedWellBefore() throws {
        func both(_ lead: Int) -> EventRecord {
            var record = EventRecord(rate: 100, capacity: 1200)
            for i in 0..<1200 {
                if i == 1000 { record.markOnset() }
                func wave(_ start: Int) -> Double { i < start ? 0 : sin(Double(i - start + 1) * 0.2) }
                record.append(-wave(850 - lead), 0, wave(850), time: Int64(i), index: Int64(i))
            }
            return record
        }
        #expect(try #require(both(10).firstMotion()).axis == 2)
        let early = try #require(both(40).firstMotion())
        #expect(early.axis == 0 && !early.positive && early.place == 810)
    }
}
