import Foundation
import TestSupport
import Testing

@testable import Seismology

/// Against `Tests/Vectors/vibration/spectrum.json`, which eqsig has made of the same samples.
@Suite struct ResponseSpectrumTests {
    private struct Reference: Decodable {
        struct Case: Decodable {
            var rate: Double
            var x: [Double]
            var y: [Double]
        }
        var cases: [Case]
    }

    /// The program's `acceleration`.
    private func samples(rate: Double) -> [(x: Double, y: Double)] {
        var state: UInt64 = 5
        func noise() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24) - 0.5
        }
        return (0..<Int(rate * 20)).map { i in
            let t = Double(i) / rate
            let (shape, w) = (exp(-pow(t - 6, 2) / 8), 2 * Double.pi * t)
            let (x, y) = (noise(), noise())
            return (shape * (x + 0.8 * sin(w * 1.9)), shape * (y + 0.5 * sin(w * 0.6)))
        }
    }

    @Test func spectraAreThoseOfEqsig() throws {
        let data = try Vectors.data("vibration/spectrum.json")
        let cases = try JSONDecoder().decode(Reference.self, from: data).cases
        #expect(cases.map(\.rate) == [50, 100, 200, 1000])
        for one in cases {
            var spectrum = ResponseSpectrum(rate: one.rate)
            for sample in samples(rate: one.rate) { spectrum.add(sample.x, sample.y) }
            let values = spectrum.values
            for (k, period) in ResponseSpectrum.periods.enumerated() {
                // Below six samples a period eqsig gives the peak acceleration; up to 125 a second, below forty, ours is finer.
                guard period >= (one.rate > 125 ? 6 : 40) / one.rate else { continue }
                #expect(abs(values.x[k] / one.x[k] - 1) < 1e-6, "x, \(period) s, \(one.rate) Hz")
                #expect(abs(values.y[k] / one.y[k] - 1) < 1e-6, "y, \(period) s, \(one.rate) Hz")
                #expect(abs(values.mean[k] / (one.x[k] * one.y[k]).squareRoot() - 1) < 1e-6)
            }
        }
    }

    /// A motion below 0.35 of the rate, with most of it near the oscillators' own frequencies, as it is at any time.
    private func motion(below limit: Double, _ t: Double) -> Double {
        var sum = 0.0
        for k in 0..<24 {
            let hz = 0.3 * pow(limit / 0.3, Double(k) / 23)
            sum += sin(2 * Double.pi * (hz * t + 0.37 * Double(k * k))) / (1 + hz / 12)
        }
        return sum * exp(-pow(t - 6, 2) / 8)
    }

    /// Each period of at least four samples is within 2 % of the same motion at 2000 samples a second. (Straight lines between
    /// the samples alone are up to a third too low.)
    @Test(arguments: [31.25, 40, 50, 62.5, 80, 100, 125]) func shortPeriodsOfFewSamples(rate: Double) {
        var (coarse, fine) = (ResponseSpectrum(rate: rate), ResponseSpectrum(rate: 2000))
        for i in 0..<Int(12 * rate) {
            let a = motion(below: 0.35 * rate, Double(i) / rate)
            coarse.add(a, -a / 2)
        }
        for i in 0..<24_000 {
            let a = motion(below: 0.35 * rate, Double(i) / 2000)
            fine.add(a, -a / 2)
        }
        let (found, wanted) = (coarse.values, fine.values)
        for (k, period) in ResponseSpectrum.periods.enumerated() where period * rate >= 4 {
            #expect(abs(found.x[k] / wanted.x[k] - 1) < 0.02, "\(period) s: \(found.x[k]), not \(wanted.x[k])")
            #expect(abs(found.y[k] / found.x[k] - 0.5) < 1e-9)
        }
    }

    /// A level that stays is no motion of its own beside the step at its beginning, and cutting a copy changes nothing.
    @Test func lookingAtItChangesNothing() {
        var (whole, watched) = (ResponseSpectrum(rate: 50), ResponseSpectrum(rate: 50))
        for (i, sample) in samples(rate: 50).enumerated() {
            whole.add(sample.x, sample.y)
            watched.add(sample.x, sample.y)
            if i % 7 == 0 { _ = watched.values }
        }
        #expect(whole.values.x == watched.values.x && whole.values.y == watched.values.y)
        // A step of 1 m/s²: what an oscillator of 5 % damping makes of it.
        var step = ResponseSpectrum(rate: 50)
        for _ in 0..<500 { step.add(1, 1) }
        for value in step.values.x { #expect(abs(value - (1 + exp(-0.05 * Double.pi / 0.99875))) < 0.002) }
    }

    /// After a gap all is at rest, and what was largest stays.
    @Test func aGapBeginsAtRest() {
        let (first, second) = (samples(rate: 100).prefix(1000), samples(rate: 100).dropFirst(1000))
        var whole = ResponseSpectrum(rate: 100)
        for sample in first { whole.add(sample.x, sample.y) }
        whole.gap()
        for sample in second { whole.add(sample.x, sample.y) }
        var (a, b) = (ResponseSpectrum(rate: 100), ResponseSpectrum(rate: 100))
        for sample in first { a.add(sample.x, sample.y) }
        for sample in second { b.add(sample.x, sample.y) }
        #expect(whole.values.x == zip(a.values.x, b.values.x).map(max))
        #expect(whole.values.y == zip(a.values.y, b.values.y).map(max))
    }
}
