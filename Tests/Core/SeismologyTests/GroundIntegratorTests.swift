import Foundation
import Seismology
import Testing

@Suite struct GroundIntegratorTests {
    private func run(_ a: [Double], rate: Double, cuts: [Int]) throws -> (v: [[Double]], d: [[Double]]) {
        var ground = try GroundIntegrator(rate: rate)
        var v: [[Double]] = [[], [], []]
        var d = v
        var (from, k) = (0, 0)
        while from < a.count {
            let n = min(cuts[k % cuts.count], a.count - from)
            k += 1
            var (x, y, z) = (
                Array(a[from..<from + n]), Array(a[from..<from + n].map { -$0 }), [Double](repeating: 1, count: n)
            )
            ground.velocity(&x, &y, &z, count: n)
            for (axis, plane) in [x, y, z].enumerated() { v[axis] += plane }
            ground.displacement(&x, &y, &z, count: n)
            for (axis, plane) in [x, y, z].enumerated() { d[axis] += plane }
            from += n
        }
        return (v, d)
    }

    /// A sine that has lasted long: each high pass has the gain 1/√(1 + (tan ωc/2 / tan ω/2)⁴) of the bilinear
    /// Butterworth of order 2, each trapezoidal integral dt/2 / tan(ω/2); ω in radians per sample.
    @Test(arguments: [(100.0, 0.5, 200), (31.25, 2, 125), (200, 0.25, 800)]) func sineInSteadyState(
        rate: Double, hz: Double, period: Int
    )
        throws
    {
        let n = Int(160 * rate)
        let a = (0..<n).map { sin(2 * Double.pi * hz * Double($0) / rate) }
        let (v, d) = try run(a, rate: rate, cuts: [128])
        let (w, c) = (tan(Double.pi * hz / rate), tan(Double.pi * 0.075 / rate))
        let pass = 1 / (1 + pow(c / w, 4)).squareRoot()
        let integral = 0.5 / rate / w
        // Amplitude from the mean square of whole periods (`period` samples).
        func amplitude(_ s: [Double]) -> Double {
            return (2 * s.suffix(period).map { $0 * $0 }.reduce(0, +) / Double(period)).squareRoot()
        }
        #expect(abs(amplitude(v[0]) / (pass * pass * integral) - 1) < 1e-8)
        #expect(abs(amplitude(d[1]) / (pass * pass * pass * integral * integral) - 1) < 1e-8)
        // A constant leaves nothing.
        #expect(abs(d[2].last ?? 1) < 1e-9)
    }

    @Test func anyCutsGiveTheSameBits() throws {
        let a = (0..<1000).map { sin(Double($0 * $0) / 300) }
        let whole = try run(a, rate: 100, cuts: [1000])
        for cuts in [[1], [7, 64, 3]] {
            let cut = try run(a, rate: 100, cuts: cuts)
            #expect(cut.v == whole.v && cut.d == whole.d)
        }
    }

    @Test func resetForgetsEverything() throws {
        var ground = try GroundIntegrator(rate: 100)
        func pass() -> [Double] {
            var (x, y, z) = ([1.0, 2, -3, 4], [0.5, 0, 0, 1], [0.0, 0, 0, 1])
            ground.velocity(&x, &y, &z, count: 4)
            let velocity = x + y + z
            ground.displacement(&x, &y, &z, count: 4)
            return velocity + x + y + z
        }
        let first = pass()
        #expect(pass() != first)
        ground.reset()
        #expect(pass() == first)
    }
}
