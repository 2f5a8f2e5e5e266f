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

    private static let (rate, seconds) = (50.0, 1800.0)

    private func uniform(_ seed: UInt64, _ count: Int) -> [Double] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24) - 0.5
        }
    }

    /// The program's `building`: the noise of an ADXL355, and oscillators that wind drives.
    private func building(
        _ modes: [TrueMode], seed: UInt64 = 1, noise: Double = 22.5e-6,
        gusts: [Double]? = nil
    ) -> [[Double]] {
        let n = Int(Self.rate * Self.seconds)
        let values = uniform(seed, 3 * n)
        let scale = 12.0.squareRoot() * noise * 9.80665 * (Self.rate / 2).squareRoot()
        var axes = (0..<3).map { axis in (0..<n).map { values[3 * $0 + axis] * scale } }
        for (number, mode) in modes.enumerated() {
            var wind = uniform(UInt64(10 + number), n)
            if let gusts { for i in 0..<n { wind[i] *= gusts[i] } }
            add(mode, drivenBy: wind, rate: Self.rate, to: &axes)
        }
        return axes
    }

    private let modes: [TrueMode] = [
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

    /// A frame of three storeys, 25 µg/√Hz: all six modes, though peak picking finds but some of them.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func aFrameHasSixModes(_ seed: UInt64) {
        let frame: [TrueMode] = [
            (2.1, 0.012, [1, 0.1, 0]), (2.6, 0.015, [-0.1, 1, 0]), (5.4, 0.014, [1, 0.05, 0.02]),
            (6.3, 0.018, [0.05, 1, 0]), (8.6, 0.02, [1, -0.1, 0]), (9.6, 0.02, [0.1, 1, 0.03]),
        ]
        let found = ModeAnalysis(rate: Self.rate, top: 20).modes(building(frame, seed: seed, noise: 25e-6))
        #expect(found.count == 6, "\(found)")
        for (mode, wanted) in zip(found, frame) {
            #expect(abs(mode.frequency / wanted.f - 1) < 0.012, "\(mode)")
            #expect(mode.damping < 1.6 * wanted.damping && mode.damping > wanted.damping / 1.6, "\(mode)")
            for (a, b) in zip(mode.shape, wanted.shape) { #expect(abs(a - b) < 0.25, "\(mode)") }
        }
        #expect(found.contains { $0.isPicked == true } && found.contains { $0.isPicked == false })
    }

    /// Frequency times damping is above 0.2 Hz: no peak stands out of the hertz around it.
    @Test func broadModesAreFound() {
        let broad: [TrueMode] = [(8.6, 0.03, [1, 0, 0]), (12, 0.02, [0, 1, 0])]
        let found = ModeAnalysis(rate: Self.rate, top: 20).modes(building(broad, noise: 0))
        #expect(found.count == 2, "\(found)")
        for (mode, wanted) in zip(found, broad) {
            #expect(abs(mode.frequency / wanted.f - 1) < 0.01, "\(mode)")
            #expect(mode.damping < 1.4 * wanted.damping && mode.damping > wanted.damping / 1.4, "\(mode)")
        }
    }

    /// Adds a lorry that passes: resonant noise of 24 s that swells and fades.
    /// - Parameters:
    ///   - at: seconds of its middle.
    ///   - decay: of the resonance, 1/s.
    private func addLorry(
        to motion: inout [[Double]], _ noise: [Double], at: Double, frequency: Double, decay: Double, size: Double
    ) {
        var (y1, y2) = (0.0, 0.0)
        let kept = exp(-decay / Self.rate)
        for (k, drive) in noise.enumerated() {
            let y = drive + 2 * kept * cos(2 * Double.pi * frequency / Self.rate) * y1 - kept * kept * y2
            (y2, y1) = (y1, y)
            let (t, i) = (Double(k) / Self.rate - 12, Int((at - 12) * Self.rate) + k)
            guard motion[0].indices.contains(i) else { continue }
            for axis in 0..<3 { motion[axis][i] += size * [0.5, 0.4, 1][axis] * y * exp(-t * t / 16) }
        }
    }

    /// Machines, steady or hunting by a thousandth, and lorries are no modes.
    @Test(arguments: [1, 2, 3] as [UInt64]) func machinesAndLorriesAreNoModes(_ seed: UInt64) {
        let chance = uniform(100 + seed, 40).map { $0 + 0.5 }
        var machines = building([], seed: seed)
        for number in 0..<4 {
            let (f, size) = (1 + 17 * chance[4 * number], pow(10, -3.5 + 2 * chance[4 * number + 1]))
            let (hunting, period) = ([0, 0.0003, 0.001, 0][number], 60 + 800 * chance[4 * number + 2])
            var phase = 0.0
            for i in machines[0].indices {
                let t = Double(i) / Self.rate
                phase += 2 * Double.pi * f * (1 + hunting * sin(2 * Double.pi * t / period)) / Self.rate
                for axis in 0..<3 { machines[axis][i] += size * [1, -0.5, 0.3][(axis + number) % 3] * sin(phase) }
            }
        }
        #expect(ModeAnalysis(rate: Self.rate, top: 20).modes(machines) == [])
        var lorries = building([], seed: seed)
        for number in 0..<20 {
            let noise = uniform(500 + 40 * seed + UInt64(number), Int(24 * Self.rate))
            addLorry(
                to: &lorries, noise, at: Self.seconds * chance[number], frequency: 9 + 5 * chance[number + 20],
                decay: 6, size: 0.005)
        }
        #expect(ModeAnalysis(rate: Self.rate, top: 20).modes(lorries) == [])
    }

    /// One machine hardly above the noise: what is left of its line without the noise does not decay (18), and fits the line better
    /// than a bell that is wider (2, 4, 19, 55).
    @Test(arguments: [2, 4, 18, 19, 55] as [UInt64]) func aFaintMachineIsNoMode(_ seed: UInt64) {
        let chance = uniform(1000 + 7919 * seed, 2).map { $0 + 0.5 }
        let (f, size) = (2 + 15 * chance[0], pow(10, -4.2 + 0.7 * chance[1]))
        var motion = building([], seed: seed)
        var phase = 0.0
        for i in motion[0].indices {
            let hunting = seed % 2 == 0 ? 0.0003 * sin(2 * Double.pi * Double(i) / Self.rate / 400) : 0
            phase += 2 * Double.pi * f * (1 + hunting) / Self.rate
            for axis in 0..<3 { motion[axis][i] += size * [1, -0.5, 0.3][axis] * sin(phase) }
        }
        #expect(ModeAnalysis(rate: Self.rate, top: 20).modes(motion) == [])
    }

    /// A dozen lorries of very different strength: the few strongest make nearly all of the power at one frequency.
    @Test(arguments: [8, 9, 11, 36] as [UInt64]) func fewLorriesAreNoMode(_ seed: UInt64) {
        let chance = uniform(1000 + 7919 * seed, 60).map { $0 + 0.5 }
        var motion = building([], seed: seed)
        for number in 0..<12 {
            let noise = uniform(500 + 40 * seed + UInt64(number), Int(24 * Self.rate))
            addLorry(
                to: &motion, noise, at: Self.seconds * chance[number], frequency: 8 + 6 * chance[number + 20],
                decay: 4, size: pow(10, -3.3 + 1.3 * chance[number + 40]))
        }
        #expect(ModeAnalysis(rate: Self.rate, top: 20).modes(motion) == [])
    }

    /// Wind whose amplitude a minute changes by a factor of 1.8 each way: a gust or two have most of the power, but the modes stand
    /// out of a typical segment as well.
    @Test(arguments: [0, 12, 36] as [UInt64]) func modesInGustsAreFound(_ seed: UInt64) {
        let n = Int(Self.rate * Self.seconds)
        var (all, level) = ([Double](), 0.0)
        for step in uniform(2000 + 7919 * seed, n) {
            // (A mean square of 1.)
            level += -level / (60 * Self.rate) + step * (24 / (60 * Self.rate)).squareRoot()
            all.append(exp(0.6 * level - 0.36))
        }
        let found = ModeAnalysis(rate: Self.rate, top: 20).modes(building(modes, seed: seed, gusts: all))
        #expect(found.count == 2, "\(found)")
        for (mode, wanted) in zip(found, modes) {
            #expect(abs(mode.frequency / wanted.f - 1) < 0.01, "\(mode)")
            #expect(mode.damping < 1.8 * wanted.damping && mode.damping > wanted.damping / 1.8, "\(mode)")
        }
    }

    /// Two modes that are 2 % apart along two axes are two; of one shape they are one or two, and nothing else.
    @Test func neighboursAreToldApartOrOne() {
        let analysis = ModeAnalysis(rate: Self.rate, top: 20)
        let two = analysis.modes(building([(3, 0.01, [1, 0.1, 0]), (3.06, 0.01, [-0.1, 1, 0])]))
        #expect(two.count == 2 && abs(two[0].frequency - 3) < 0.02 && abs(two[1].frequency - 3.06) < 0.02, "\(two)")
        let one = analysis.modes(building([(3, 0.01, [1, 0, 0]), (3.06, 0.01, [1, 0.1, 0])]))
        #expect((1...2).contains(one.count) && one.allSatisfy { abs($0.frequency - 3.03) < 0.06 }, "\(one)")
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
