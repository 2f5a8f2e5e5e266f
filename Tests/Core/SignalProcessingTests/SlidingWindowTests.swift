import Testing

@testable import SignalProcessing

@Suite struct SlidingWindowTests {
    /// The definition, summed anew for each sample.
    private func naive(_ x: [Double], _ window: Int) -> [Double] {
        x.indices.map { i in
            let part = x[max(0, i - window + 1)...i]
            return (part.reduce(0) { $0 + $1 * $1 } / Double(part.count)).squareRoot()
        }
    }

    @Test func agreesWithTheDefinitionForAnyWindow() {
        var noise = Noise(seed: 6)
        let x = noise.samples(1000)
        for window in [1, 2, 3, 20, 100, 333, 999, 1000, 5000] {
            var rms = SlidingRMS(window: window)
            var out = [Double](repeating: 0, count: x.count)
            rms.process(x, &out, count: x.count)
            for (a, b) in zip(out, naive(x, window)) { #expect(abs(a - b) <= 4e-16 * b * 10) }
        }
    }

    @Test func anyCutGivesTheSameBits() {
        var noise = Noise(seed: 7)
        let x = noise.samples(500)
        var results: [[Double]] = []
        for cut in cuts(500) {
            var rms = SlidingRMS(window: 37)
            var out: [Double] = []
            var start = 0
            for size in cut {
                var piece = [Double](repeating: 0, count: size)
                rms.process(Array(x[start..<start + size]), &piece, count: size)
                out += piece
                start += size
            }
            results.append(out)
        }
        #expect(results[1] == results[0] && results[2] == results[0])
    }

    /// A running sum would keep the rounding of the shock for ever; here the quiet after it is exact.
    @Test func theQuietAfterAShockIsExact() {
        var noise = Noise(seed: 8)
        let shock = noise.samples(1000).map { $0 * 1e3 }
        let quiet = noise.samples(5000).map { $0 * 1e-9 }
        let x = shock + quiet
        var rms = SlidingRMS(window: 100)
        var out = [Double](repeating: 0, count: x.count)
        rms.process(x, &out, count: x.count)
        let expected = naive(x, 100)
        for i in 1200..<x.count { #expect(abs(out[i] / expected[i] - 1) < 1e-14) }
    }

    @Test func doesNotDriftOverTenMillionSamples() {
        var noise = Noise(seed: 9)
        let period = noise.samples(997)
        let window = 250
        var rms = SlidingRMS(window: window)
        var out = [Double](repeating: 0, count: period.count)
        for _ in 0..<10_030 { rms.process(period, &out, count: period.count) }
        let expected = naive(period + period, window)
        for i in period.indices { #expect(abs(out[i] / expected[period.count + i] - 1) < 1e-14) }
    }

    @Test func aResetWindowIsLikeANewOne() {
        var rms = SlidingRMS(window: 3)
        var out = [0.0, 0, 0, 0]
        for x in [[3.0, 4, 5, -6], [2.0, 2, 1, 1]] {
            rms.reset()
            rms.process(x, &out, count: 4)
        }
        #expect(out[0] == 2 && out[1] == 2 && out[2] == 3.0.squareRoot())
    }

    /// What an addition rounds off is carried, before the cut of the window and after it.
    @Test func whatIsRoundedOffIsNotLost() {
        var sum = SlidingSum(length: 4)
        let values: [Double] = [1e16, 1, 1, 2]
        let sums: [Double] = values.map { sum.push($0) }
        let exact: [Double] = [1e16, 1e16, 10_000_000_000_000_002, 10_000_000_000_000_004]
        #expect(sums == exact)
        // (The window has been cut: what is left of these four is a sum from the end.)
        var after = SlidingSum(length: 4)
        for value in [0, 1e16, 1, 1] { _ = after.push(value) }
        #expect(after.push(0) == 1e16 + 2)
    }

    @Test func sumsAgreeWithTheirDefinitionForAnyWindow() {
        var noise = Noise(seed: 12)
        // Steps of a million and back: what a running sum would not forget.
        let x = noise.samples(600).enumerated().map { $1 + ($0 / 100 % 3 == 1 ? 1e6 : 3) }
        for window in [1, 2, 7, 100, 599, 600, 4000] {
            var sum = SlidingSum(length: window)
            for i in x.indices {
                let expected = x[max(0, i - window + 1)...i].reduce(0, +)
                #expect(abs(sum.push(x[i]) - expected) <= 1e-15 * Double(min(i + 1, window)) * abs(expected))
            }
        }
    }
}
