import Foundation
import TestSupport
import Testing

@testable import Vibration

/// A building over a year: its frequencies follow the temperature by 3 %, and each mode keeps its number.
@Suite struct TrackedYearTests {
    private static let (rate, seconds) = (25.0, 900.0)
    private static let modes: [TrueMode] = [
        (2.02, 0.011, [1, 0.15, 0]), (2.1, 0.013, [-0.15, 1, 0.05]), (5.8, 0.015, [1, 0.1, 0.02]),
    ]

    private static func uniform(_ dice: inout SplitMix64) -> Double {
        Double(dice.next() >> 11) / 9_007_199_254_740_992 - 0.5
    }

    /// Ambient motion with the noise of an ADXL355, and all frequencies times a factor.
    private static func motion(_ factor: Double, _ dice: inout SplitMix64) -> [[Double]] {
        let count = Int(rate * seconds)
        func unit() -> Double { uniform(&dice) }
        let scale = 12.0.squareRoot() * 22.5e-6 * 9.80665 * (rate / 2).squareRoot()
        var axes = (0..<3).map { _ in (0..<count).map { _ in scale * unit() } }
        for mode in modes {
            let moved = (mode.f * factor, mode.damping, mode.shape)
            add(moved, drivenBy: (0..<count).map { _ in unit() }, rate: rate, to: &axes)
        }
        return axes
    }

    /// Every third day a quarter of an hour. The year moves a frequency up and down by 1.45 %, the weather of some days by 0.3 %
    /// more (3 % in all), so that a mode is in winter above where its neighbour is in summer (their shapes tell them apart).
    @Test func modesKeepTheirNumbersOverAYear() {
        let analysis = ModeAnalysis(rate: Self.rate, top: 8)
        var (dice, followed) = (SplitMix64(state: 7), FollowedModes())
        var (weather, lowest, highest) = (0.0, 1.0, 1.0)
        var errors = [[Double]](repeating: [], count: Self.modes.count)
        var numbers = [Set<Int>](repeating: [], count: Self.modes.count)
        var (searches, invented) = (0, 0)
        for day in stride(from: 0, to: 365, by: 3) {
            weather = 0.5 * weather + 0.2 * Self.uniform(&dice)
            let factor = 1 - 0.0145 * cos(2 * Double.pi * Double(day) / 365) + 0.015 * weather
            (lowest, highest) = (min(lowest, factor), max(highest, factor))
            var found = analysis.modes(Self.motion(factor, &dice))
            followed.recognise(&found)
            searches += 1
            for mode in found {
                let nearest = Self.modes.indices.min { a, b in
                    distance(mode, a, factor) < distance(mode, b, factor)
                }
                guard let nearest, distance(mode, nearest, factor) < 1 else {
                    invented += 1
                    continue
                }
                errors[nearest].append(abs(mode.frequency / (Self.modes[nearest].f * factor) - 1))
                numbers[nearest].formUnion(mode.id.map { [$0] } ?? [])
            }
        }
        #expect(highest / lowest > 1.03 && invented == 0, "\(highest / lowest), \(invented) invented")
        for k in Self.modes.indices {
            let all = errors[k].sorted()
            print(
                "year: \(Self.modes[k].f) Hz found in \(all.count) of \(searches), numbers \(numbers[k].sorted()),",
                "off by \(all[all.count / 2]) (median), \(all[all.count * 9 / 10]) (90 %), \(all.last ?? 0)")
            #expect(all.count >= searches * 93 / 100 && numbers[k].count == 1)
            #expect(all[all.count / 2] < 0.003 && all[all.count * 9 / 10] < 0.006)
        }
    }

    /// 0: the mode itself; 1: it is 2 % away, or at right angles.
    private func distance(_ found: StructureMode, _ k: Int, _ factor: Double) -> Double {
        let shape = Self.modes[k].shape
        func product(_ a: [Double], _ b: [Double]) -> Double { zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } }
        let both = product(found.shape, shape)
        let likeness = both * both / (product(found.shape, found.shape) * product(shape, shape))
        return abs(found.frequency / (Self.modes[k].f * factor) - 1) / 0.02 + 1 - likeness
    }
}
