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
                // Below six samples a period eqsig gives the peak acceleration.
                guard period >= 6 / one.rate else { continue }
                #expect(abs(values.x[k] / one.x[k] - 1) < 1e-6, "x, \(period) s, \(one.rate) Hz")
                #expect(abs(values.y[k] / one.y[k] - 1) < 1e-6, "y, \(period) s, \(one.rate) Hz")
                #expect(abs(values.mean[k] / (one.x[k] * one.y[k]).squareRoot() - 1) < 1e-6)
            }
        }
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
