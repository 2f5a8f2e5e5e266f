import Foundation
import Testing

@testable import Vibration

@Suite struct WeightingTests {
    /// ISO 2631-1:1997, table 3: factors × 1000 at nominal thirds of octaves.
    private static let tables: [(FrequencyWeighting, [(f: Double, factor: Double)])] = [
        (.wk, [(0.5, 418), (1, 482), (2, 531), (4, 967), (8, 1036), (16, 768), (31.5, 405), (63, 186), (80, 132)]),
        (.wd, [(0.5, 853), (1, 1011), (2, 890), (4, 512), (8, 253), (16, 125), (31.5, 63.2), (63, 29.5)]),
    ]

    @Test func analogueFactorsAreThoseOfTheTables() {
        for (weighting, factors) in Self.tables {
            for (f, factor) in factors {
                let gain = 1000 * weighting.gain(at: f)
                #expect(abs(gain / factor - 1) < 0.01, "\(weighting.title) at \(f) Hz: \(gain), not \(factor)")
            }
        }
        // Wm is a lag of first order within its band.
        for f in [2, 5.684, 12, 30] {
            let lag = 1 / (1 + pow(f / 5.684, 2)).squareRoot()
            let band = 1 / ((1 + pow(0.7943 / f, 4)) * (1 + pow(f / 100, 4))).squareRoot()
            #expect(abs(FrequencyWeighting.wm.gain(at: f) / (lag * band) - 1) < 0.005)
        }
        // BS 6841 gives K = 0.4 far below the step and 1 between 5 and 16 Hz by asymptotes.
        #expect(abs(FrequencyWeighting.wb.gain(at: 1) - 0.4) < 0.04)
        #expect(abs(FrequencyWeighting.wb.gain(at: 9) - 1) < 0.1)
    }

    /// ISO 8041 allows 12 %; here are 1.4 % from 50 samples a second on, 6 % at 25.
    @Test(arguments: [25.0, 50, 62.5, 100, 200, 400, 800, 1600, 4000])
    func digitalGainIsTheAnalogueOne(_ rate: Double) throws {
        for weighting in FrequencyWeighting.all {
            let sections = try weighting.sections(rate: rate)
            for step in 0...200 {
                let f = 0.1 * pow(0.33 * rate / 0.1, Double(step) / 200)
                let gain = sections.reduce(1) {
                    let h = $1.response(at: f, rate: rate)
                    return $0 * (h.re * h.re + h.im * h.im).squareRoot()
                }
                let error = gain / weighting.gain(at: f) - 1
                #expect(abs(error) < (rate < 50 ? 0.06 : 0.014), "\(weighting.title) at \(f) of \(rate) Hz: \(error)")
            }
        }
        #expect(throws: VibrationError.weighting(rate: 19)) { try FrequencyWeighting.wk.sections(rate: 19) }
    }
}
