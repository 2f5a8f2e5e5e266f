import Foundation
import Testing

@testable import SignalProcessing

/// A notch as SciPy 1.17.1 has it: `iirnotch(frequency, quality, fs=rate)`, and what `lfilter` with its coefficients makes of
/// sin(2πn/25) with 1 added to the first sample.
private struct Reference {
    var frequency: Double
    var quality: Double
    var rate: Double
    var b: [Double]
    var a: [Double]
    /// The samples 0, 1, 2, 5, 12, 29, 60 and 159.
    var y: [Double]

    static let all: [Reference] = [
        .init(
            frequency: 50, quality: 30, rate: 200,
            b: [0.9744822833574399, -1.193396609139493e-16, 0.9744822833574399],
            a: [1.0, -1.193396609139493e-16, 0.9489645667148798],
            y: [
                0.9744822833574399, 0.2423438890923118, 0.5191935459142958, 0.9490954800260974,
                0.09863423132862278, 0.8407724136402945, 0.5837076900401219, 0.7747610528829297,
            ]),
        .init(
            frequency: 60, quality: 35, rate: 250,
            b: [0.9789087428828398, -0.12293237707480141, 0.9789087428828398],
            a: [1.0, -0.12293237707480141, 0.9578174857656796],
            y: [
                0.9789087428828398, 0.24085190643931495, 0.5119221738727984, 0.9390358310970833,
                0.11016355618582406, 0.8218198084095032, 0.6008350073482528, 0.7736117865738448,
            ]),
        .init(
            frequency: 50, quality: 5, rate: 500,
            b: [0.9408092961815945, -1.5222614181536867, 0.9408092961815945],
            a: [1.0, -1.5222614181536867, 0.881618592363189],
            y: [
                0.9408092961815945, 0.14386603297492648, 0.4050433549288111, 0.9335529925920298,
                0.22695032627757916, 0.7780418454978307, 0.6600085604834649, 0.8250811870609789,
            ]),
        .init(
            frequency: 16.7, quality: 10, rate: 100,
            b: [0.9501072216201147, -0.946658532573256, 0.9501072216201147],
            a: [1.0, -0.946658532573256, 0.9002144432402295],
            y: [
                0.9501072216201147, 0.18905063337211522, 0.49606661441770594, 0.9082529626705945,
                0.11152038798527782, 0.81889227203553, 0.6064903062380704, 0.7876202187109981,
            ]),
        .init(
            frequency: 0.2, quality: 2, rate: 1000,
            b: [0.9996859393893597, -1.9993703001381675, 0.9996859393893597],
            a: [1.0, -1.9993703001381675, 0.9993718787787194],
            y: [
                0.9996859393893597, 0.24798386000967432, 0.48081868847663617, 0.9487137610917109,
                0.11977375439681309, 0.8425983380182981, 0.5827783887874934, 0.7661622707459477,
            ]),
        .init(
            frequency: 49, quality: 2, rate: 100,
            b: [0.5078546276618324, 1.0137049851249933, 0.5078546276618324],
            a: [1.0, 1.0137049851249933, 0.01570925532366485],
            y: [
                0.5078546276618324, 0.6251885273947668, 0.3628788939403913, 0.8977833421391395,
                0.2451258305996955, 0.7653411261147789, 0.6784561630200006, 0.8346867387684893,
            ]),
    ]
}

@Suite struct NotchFilterTests {
    private func design(_ r: Reference, start: FilterStart = .zero) throws -> FilterSpecification.Design {
        try FilterSpecification.notch(.init(frequency: r.frequency, quality: r.quality, start: start)).design(
            rate: r.rate)
    }

    @Test func isSciPysNotch() throws {
        for r in Reference.all {
            let design = try design(r)
            #expect(design.sections.count == 1)
            let s = design.sections[0]
            for (found, known) in zip([s.b0, s.b1, s.b2, 1, s.a1, s.a2], r.b + r.a) {
                #expect(abs(found - known) < 1e-15, "\(r.frequency) Hz: \(found), not \(known)")
            }
            var filter = AxisFilter(design, design, design)
            let signal = (0..<160).map { sin(2 * Double.pi * Double($0) / 25) + ($0 == 0 ? 1 : 0) }
            let out = run([160], [signal, signal, signal]) { filter.process(&$0, &$1, &$2, count: $0.count) }
            for (n, known) in zip([0, 1, 2, 5, 12, 29, 60, 159], r.y) {
                #expect(abs(out[n] - known) < 1e-12, "\(r.frequency) Hz, sample \(n): \(out[n]), not \(known)")
            }
        }
    }

    /// Nothing at its frequency, all at 0 and at half of the rate, and 3 dB down on a band of a width of frequency / quality.
    @Test func takesOutOneFrequencyAndNoOther() throws {
        for r in Reference.all {
            let design = try design(r)
            func gain(_ frequency: Double) -> Double { design.response(at: frequency, rate: r.rate).gain }
            #expect(gain(r.frequency) < 1e-12, "\(r.frequency) Hz")
            #expect(abs(gain(0) - 1) < 1e-12 && abs(gain(r.rate / 2) - 1) < 1e-12, "\(r.frequency) Hz")
            func edge(_ inside: Double, _ outside: Double) -> Double {
                var (a, b) = (inside, outside)
                for _ in 0..<100 {
                    let middle = (a + b) / 2
                    if gain(middle) < 0.5.squareRoot() { a = middle } else { b = middle }
                }
                return a
            }
            let width = edge(r.frequency, r.rate / 2) - edge(r.frequency, 0)
            #expect(abs(width * r.quality / r.frequency - 1) < 1e-9, "\(r.frequency) Hz: \(width)")
        }
    }

    @Test func theMainsGoAndTheGroundMotionStays() throws {
        let design = try FilterSpecification.notch(.init(frequency: 50, quality: 30)).design(rate: 200)
        let rate = 200.0
        // About as many periods as the quality says, until 5 % are left.
        #expect(abs(design.settlingTime(rate: rate) - 3 * 30 / (Double.pi * 50)) < 0.01)
        let motion = (0..<4000).map { sin(2 * Double.pi * 3 * Double($0) / rate) }
        let hum = (0..<4000).map { 0.5 * sin(2 * Double.pi * 50 * Double($0) / rate + 1) }
        var filter = AxisFilter(design, design, design)
        let out = run([4000], [zip(motion, hum).map(+), motion, hum]) {
            filter.process(&$0, &$1, &$2, count: $0.count)
        }
        // Ten settling times on.
        let late = 3000..<4000
        #expect(late.allSatisfy { abs(out[$0] - motion[$0]) < 3e-3 && abs(out[8000 + $0]) < 1e-9 })
    }

    @Test func aSteadyStartHasNoTransientForAConstantInput() throws {
        let design = try design(Reference.all[0], start: .steady)
        var filter = AxisFilter(design, design, design)
        let gravity = [Double](repeating: 9.81, count: 50)
        let out = run([50], [gravity, gravity, gravity]) { filter.process(&$0, &$1, &$2, count: $0.count) }
        #expect(out.allSatisfy { abs($0 - 9.81) < 1e-12 })
    }

    @Test func anyCutGivesTheSameBits() throws {
        let signal = planes(700, seed: 11)
        let chain = try FilterSpecification.chain([
            .notch(.init(frequency: 16.7, quality: 8, start: .steady)),
            .simple(.init(band: .lowpass, corner: 5, adaptive: true)),
            .notch(.init(frequency: 40)),
        ]).design(rate: 100)
        let (first, second) = (try design(Reference.all[0]), try design(Reference.all[1], start: .steady))
        let results = cuts(700).map { cut in
            var filter = AxisFilter(first, second, chain)
            return run(cut, signal) { filter.process(&$0, &$1, &$2, count: $0.count) }
        }
        #expect(results[1] == results[0] && results[2] == results[0])
    }

    @Test func refusesWhatCannotBeBuilt() {
        func error(_ filter: NotchSpecification) -> FilterDesignError? {
            do throws(FilterDesignError) {
                _ = try FilterSpecification.notch(filter).design(rate: 100)
                return nil
            } catch { return error }
        }
        #expect(error(.init(frequency: 50)) == .corner(50, rate: 100))
        #expect(error(.init(frequency: 0)) == .corner(0, rate: 100))
        let limits = Interval.from(2, to: 1000)
        #expect(error(.init(frequency: 20, quality: 1.9)) == .parameter("quality", 1.9, limits))
        #expect(error(.init(frequency: 20, quality: 1001))?.description == "quality 1001.0 is not allowed: 2 to 1000")
        #expect(error(.init(frequency: 20, quality: .nan)) != nil)
        #expect(error(.init(frequency: 49.999999, quality: 2)) == nil)
    }
}
