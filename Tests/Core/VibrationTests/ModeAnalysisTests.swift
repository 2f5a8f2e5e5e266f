import Foundation
import TestSupport
import Testing

@testable import Vibration

/// Against `Tests/Vectors/vibration/modes.json`, what pyOMA-2 finds in the same half hour of a simulated building.
@Suite struct ModeAnalysisTests {
    private struct Reference: Decodable {
        var frequency: [Double]
        var damping: [Double]
    }

    private static let (rate, seconds) = (50.0, 1800)

    private func uniform(_ seed: UInt64, _ count: Int) -> [Double] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24) - 0.5
        }
    }

    /// The program's `building`: the noise of an ADXL355, and oscillators that wind drives.
    private func building(
        _ modes: [(f: Double, damping: Double, shape: [Double])], seed: UInt64 = 1, noise: Double = 22.5e-6
    ) -> [[Double]] {
        let n = Int(Self.rate) * Self.seconds
        let values = uniform(seed, 3 * n)
        let scale = 12.0.squareRoot() * noise * 9.80665 * (Self.rate / 2).squareRoot()
        var axes = (0..<3).map { axis in (0..<n).map { values[3 * $0 + axis] * scale } }
        for (number, mode) in modes.enumerated() {
            let wind = uniform(UInt64(10 + number), n)
            let w = 2 * Double.pi * mode.f / Self.rate
            let decay = exp(-mode.damping * w)
            let turn = cos(w * (1 - mode.damping * mode.damping).squareRoot())
            let (a1, a2) = (-2 * decay * turn, decay * decay)
            var (y1, y2, x1, x2) = (0.0, 0.0, 0.0, 0.0)
            for i in 0..<n {
                let y = wind[i] - x2 - a1 * y1 - a2 * y2
                (y2, y1, x2, x1) = (y1, y, x1, wind[i])
                for axis in 0..<3 { axes[axis][i] += 1e-4 * y * mode.shape[axis] }
            }
        }
        return axes
    }

    private let modes: [(f: Double, damping: Double, shape: [Double])] = [
        (2.37, 0.010, [1, 0.25, 0]), (3.10, 0.012, [-0.3, 1, 0.05]),
    ]

    @Test func modesAreThoseOfPyOMA() throws {
        let reference = try JSONDecoder().decode(Reference.self, from: Vectors.data("vibration/modes.json"))
        let found = ModeAnalysis(rate: Self.rate, top: 20).modes(building(modes))
        #expect(found.count == 2)
        for (k, mode) in found.enumerated() {
            #expect(abs(mode.frequency / reference.frequency[k] - 1) < 0.003, "\(mode)")
            #expect(abs(mode.frequency / modes[k].f - 1) < 0.003, "\(mode)")
            for damping in [reference.damping[k], modes[k].damping] {
                #expect(mode.damping < 1.5 * damping && mode.damping > damping / 1.5, "\(mode)")
            }
            for (a, b) in zip(mode.shape, modes[k].shape) { #expect(abs(a - b) < 0.05, "\(mode)") }
        }
    }

    /// Without dividing the window's correlation out, damping of 0.5 % would be found as more than 0.75 %.
    @Test func littleDampingIsNotWidened() {
        let found = ModeAnalysis(rate: Self.rate, top: 20).modes(building([(2.37, 0.005, [1, 0, 0])]))
        #expect(found.count == 1)
        #expect(found.allSatisfy { $0.damping < 0.0075 && $0.damping > 0.0033 }, "\(found)")
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64]) func noiseHasNoModes(_ seed: UInt64) {
        #expect(ModeAnalysis(rate: Self.rate, top: 20).modes(building([], seed: seed)) == [])
    }

    @Test func tooLittleHasNone() {
        let analysis = ModeAnalysis(rate: Self.rate, top: 20)
        let short = building(modes).map { Array($0.prefix(analysis.least - 1)) }
        #expect(analysis.modes(short) == [])
        #expect(analysis.modes([[], []]) == [])
    }
}
