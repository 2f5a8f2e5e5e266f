import Foundation
import Testing

@testable import SignalProcessing

@Suite struct SpectrumTests {
    private func noise(_ count: Int) -> [Double] {
        var state: UInt64 = 7
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24) - 0.5
        }
    }

    /// By the definition, a sum for each frequency.
    private func sums(_ x: [Double]) -> [Double] {
        let n = x.count / 2
        var out = [Double](repeating: 0, count: x.count)
        for k in 0..<n {
            for j in 0..<n {
                let angle = -2 * Double.pi * Double(j * k % n) / Double(n)
                out[2 * k] += x[2 * j] * cos(angle) - x[2 * j + 1] * sin(angle)
                out[2 * k + 1] += x[2 * j] * sin(angle) + x[2 * j + 1] * cos(angle)
            }
        }
        return out
    }

    private func transform(_ transform: inout FourierTransform, _ x: [Double]) -> (output: [Double], steps: Int) {
        var out = [Double](repeating: .nan, count: x.count)
        transform.begin(length: x.count / 2)
        var steps = 1
        while !transform.step(x, &out) { steps += 1 }
        return (out, steps)
    }

    /// Lengths with small factors, powers, primes and their products; each also as a shorter one of a longer transform,
    /// twice, and after another length.
    @Test(arguments: [1, 2, 3, 7, 30, 64, 97, 101, 194, 375]) func agreesWithItsDefinition(n: Int) {
        let x = noise(2 * n)
        let right = sums(x)
        func worst(_ y: [Double]) -> Double { zip(y, right).map { abs($0 - $1) }.max() ?? .nan }
        var exact = FourierTransform(longest: n)
        #expect(worst(transform(&exact, x).output) < 1e-12 * Double(n + 10))
        var longer = FourierTransform(longest: 400)
        #expect(worst(transform(&longer, x).output) < 1e-12 * Double(n + 10))
        for other in [399, 400] {
            _ = transform(&longer, noise(2 * other))
            #expect(worst(transform(&longer, x).output) < 1e-12 * Double(n + 10), "after \(other)")
        }
        #expect(worst(transform(&longer, x).output) < 1e-12 * Double(n + 10))
    }

    /// One line of a spectrum at a long prime length, in few parts.
    @Test func aLongPrimeLengthIsExactAndNotQuadratic() {
        let (n, line) = (10_007, 1_234)
        var x = [Double](repeating: 0, count: 2 * n)
        for j in 0..<n {
            let angle = 2 * Double.pi * Double(j * line % n) / Double(n)
            (x[2 * j], x[2 * j + 1]) = (cos(angle), sin(angle))
        }
        var fourier = FourierTransform(longest: n)
        let (y, steps) = transform(&fourier, x)
        #expect(steps == 4)
        for k in 0..<n {
            let right = k == line ? Double(n) : 0
            #expect(abs(y[2 * k] - right) < 1e-8 && abs(y[2 * k + 1]) < 1e-8)
        }
    }

    private func dominant(_ axes: [[Double]], rate: Double, longest: Int? = nil, lowest: Double = 0.1)
        -> DominantFrequency
    {
        let count = axes[0].count
        var calculation = DominantFrequency(rate: rate, longest: longest ?? count, lowest: lowest)
        calculation.begin(count: count)
        while !calculation.step({ axis, to in to.update(from: axes[axis], count: count) }) {}
        return calculation
    }

    /// A sine of amplitude A reads A, wherever it lies between the transform's frequencies, on whichever axis.
    @Test(arguments: [0.73, 5.0, 7.321, 38.9]) func aSineReadsItsFrequencyAndAmplitude(hz: Double) {
        for (rate, n) in [(100.0, 2000), (100.0, 2048), (250.0, 1999)] {
            for axis in 0..<3 {
                var axes = [[Double]](repeating: noise(n).map { $0 * 1e-3 + 9.8 }, count: 3)
                for i in 0..<n { axes[axis][i] += 0.3 * sin(2 * .pi * hz * Double(i) / rate + 0.4) }
                let found = dominant(axes, rate: rate)
                #expect(abs((found.frequency ?? .nan) - hz) < 0.05 * rate / Double(n))
                #expect(abs(found.amplitude / 0.3 - 1) < 0.01, "\(rate) Hz, \(n): \(found.amplitude)")
            }
        }
    }

    @Test func onlyTheBandCountsAndNothingMovesIsNothing() {
        let n = 2000
        let still = [Double](repeating: 8, count: n)
        #expect(dominant([still, still, still], rate: 100).frequency == nil)
        let mixed = (0..<n).map { i in
            let t = Double(i) / 100
            return 5 * sin(2 * .pi * 0.05 * t) + 5 * sin(2 * .pi * 45 * t) + 0.1 * sin(2 * .pi * 3 * t)
        }
        let found = dominant([still, mixed, still], rate: 100, lowest: 1)
        #expect(abs((found.frequency ?? .nan) - 3) < 0.01)
        // A record that is shorter than there is room for.
        let short = dominant([still, still, mixed].map { Array($0.prefix(700)) }, rate: 100, longest: 2000, lowest: 1)
        #expect(abs((short.frequency ?? .nan) - 3) < 0.02)
    }

    @Test func aRingGivesBackItsLastSamples() {
        var ring = SampleRing(capacity: 5)
        for i in 1...8 { ring.push(Double(i), Double(-i), Double(10 * i)) }
        var out = [Double](repeating: 0, count: 5)
        ring.copy(axis: 0, 3..<8, to: &out)
        #expect(out == [4, 5, 6, 7, 8])
        ring.copy(axis: 2, 5..<7, to: &out)
        #expect(out.prefix(2) == [60, 70])
        ring.copy(axis: 1, 8..<8, to: &out)
        ring.reset()
        ring.push(1, 2, 3)
        ring.copy(axis: 1, 0..<1, to: &out)
        #expect(out[0] == 2)
    }
}
