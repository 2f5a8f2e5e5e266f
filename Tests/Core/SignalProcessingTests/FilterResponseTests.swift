import Foundation
import TestSupport
import Testing

@testable import SignalProcessing

/// The lines of a CSV file in `Vectors/filters`, without comments.
private func rows(_ name: String) throws -> [[String]] {
    String(decoding: try Vectors.data("filters/\(name)"), as: UTF8.self).split(separator: "\n")
        .filter { !$0.hasPrefix("#") }
        .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
}

/// The signal through a filter on all three axes; z.
private func filtered(_ specification: FilterSpecification, rate: Double, _ signal: [Double]) throws -> [Double] {
    let design = try specification.design(rate: rate)
    var stage = AxisFilter(design, design, design)
    let out = run([signal.count], [signal, signal, signal]) { stage.process(&$0, &$1, &$2, count: $0.count) }
    return Array(out.suffix(signal.count))
}

/// Shake's test signals with an amplitude of 2.
private func shakeSignal(_ name: String) -> [Double] {
    (0..<140).map { n in
        switch name {
        case "impulse": n == 20 ? 2 : 0
        case "step": n >= 20 ? 2 : 0
        default: n >= 20 ? 2 * sin(2 * Double.pi * Double(n - 20) / 60) : 0
        }
    }
}

private func expectEqual(_ got: [Double], _ expected: [Double], _ what: String) {
    let largest = expected.map(abs).max() ?? 0
    #expect(got.count == expected.count)
    for (a, b) in zip(got, expected) where !(abs(a - b) <= 1e-6 * largest + 1e-12) {
        Issue.record("\(what): \(a), not \(b)")
        return
    }
}

@Suite struct FilterResponseTests {
    @Test func butterworthAnswersInTimeAsSciPyDoes() throws {
        let lines = try rows("time_responses.csv")
        #expect(lines.count == 350)
        for line in lines {
            let band = try #require(FilterBand(rawValue: line[0]))
            let start = try #require(FilterStart(rawValue: line[6]))
            let rate = try #require(Double(line[4]))
            let signal: [Double] = (0..<160).map { n in
                switch line[5] {
                case "impulse": n == 0 ? 1 : 0
                case "step": 1
                default: sin(2 * Double.pi * Double(n) / 25)
                }
            }
            let specification = ButterworthSpecification(
                band: band, corners: line[2...3].compactMap(Double.init), order: try #require(Int(line[1])),
                start: start)
            let out = try filtered(.butterworth(specification), rate: rate, signal)
            // A steady high pass answers a step with nothing: the scale is the signal's.
            for (n, text) in zip([0, 1, 2, 5, 12, 29, 60, 159], line[7...]) {
                let expected = try #require(Double(text))
                #expect(abs(out[n] - expected) <= 1e-8, "\(line.prefix(7)) sample \(n): \(out[n])")
            }
        }
    }

    @Test func shakesFiltersAnswerByNameAsDesigned() throws {
        let lines = try rows("shake.csv")
        #expect(Set(lines.map { $0[0] }).count == 13)
        for line in lines {
            let filter = try #require(ShakeFilter(rawValue: line[0]))
            let out = try filtered(.shake(filter), rate: 60, shakeSignal(line[1]))
            let kept = stride(from: 20, to: 140, by: 5).map { out[$0] }
            expectEqual(kept, line[2...].compactMap(Double.init), "\(line[0]) \(line[1])")
        }
        // The two that are no template of Shake's.
        let passed = try filtered(.shake(.pass), rate: 60, shakeSignal("step"))
        #expect(passed == shakeSignal("step"))
        let byName = try FilterSpecification.shake(.bp1to3).design(rate: 100)
        let spelled = try FilterSpecification.butterworth(.init(band: .bandpass, corners: [1, 3], order: 2))
            .design(rate: 100)
        #expect(byName == spelled)
    }

    @Test func theAverageTakesGravityAwayAsTheClassicDoes() throws {
        for line in try rows("gravity_ema.csv") {
            var stage = try OffsetRemoval(.ema(.alpha(0.1)), rate: 60)
            let signal = shakeSignal(line[0]).map { $0 + 1 }
            let out = run([140], [signal, signal, signal]) { stage.process(&$0, &$1, &$2, count: $0.count) }
            expectEqual(
                stride(from: 0, to: 140, by: 5).map { out[$0] }, line[1...].compactMap(Double.init), line[0])
        }
    }

    /// 1000 s at 1000 samples per second: the corner is 20 000 times below the rate.
    @Test func aLowCornerAtAHighRateStaysRightForAMillionSamples() throws {
        let (rate, corner, frequency) = (1000.0, 0.05, 0.06)
        let count = 1_000_000
        let w = 2 * Double.pi * frequency / rate
        let sine = (0..<count).map { sin(w * Double($0)) }
        func design(_ band: FilterBand) throws -> FilterSpecification.Design {
            try FilterSpecification.butterworth(.init(band: band, corners: [corner], order: 10)).design(rate: rate)
        }
        var stage = AxisFilter(try design(.lowpass), try design(.highpass), try design(.lowpass))
        var (low, high, constant) = (sine, sine, [Double](repeating: 1, count: count))
        stage.process(&low, &high, &constant, count: count)
        // |H|² of the analogue filter at the prewarped frequencies.
        let ratio = pow(tan(w / 2) / tan(Double.pi * corner / rate), 20)
        for (out, gain) in [(low, 1 / (1 + ratio)), (high, ratio / (1 + ratio))] {
            // Six whole periods at the end.
            let power = out.suffix(100_000).reduce(0) { $0 + $1 * $1 } / 100_000
            #expect(abs(2 * power - gain) < 1e-9, "\(2 * power), not \(gain)")
        }
        #expect(abs(constant[count - 1] - 1) < 1e-9)
    }
}

@Suite struct SimpleFilterTests {
    /// Apple's AccelerometerFilter.m, as it stands there, with g for a unit.
    private struct Original {
        var (x, y, z) = (0.0, 0.0, 0.0)
        var (lastX, lastY, lastZ) = (0.0, 0.0, 0.0)
        let constant: Double
        let isHighPass: Bool
        let adaptive: Bool

        init(highPass: Bool, cutoff: Double, rate: Double, adaptive: Bool) {
            let (dt, rc) = (1 / rate, 1 / cutoff)
            constant = highPass ? rc / (dt + rc) : dt / (dt + rc)
            isHighPass = highPass
            self.adaptive = adaptive
        }

        mutating func add(_ ax: Double, _ ay: Double, _ az: Double) {
            func norm(_ x: Double, _ y: Double, _ z: Double) -> Double { sqrt(x * x + y * y + z * z) }
            var alpha = constant
            if adaptive {
                let d = min(max(abs(norm(x, y, z) - norm(ax, ay, az)) / 0.02 - 1, 0), 1)
                alpha = isHighPass ? d * constant / 3 + (1 - d) * constant : (1 - d) * constant / 3 + d * constant
            }
            if isHighPass {
                (x, y, z) = (alpha * (x + ax - lastX), alpha * (y + ay - lastY), alpha * (z + az - lastZ))
                (lastX, lastY, lastZ) = (ax, ay, az)
            } else {
                x = ax * alpha + x * (1 - alpha)
                y = ay * alpha + y * (1 - alpha)
                z = az * alpha + z * (1 - alpha)
            }
        }
    }

    /// Rest, then motion that grows, in g.
    private func motion(_ count: Int) -> [[Double]] {
        let signal = planes(count, seed: 11, offset: 0)
        var out: [[Double]] = []
        for axis in 0..<3 {
            let rest: Double = axis == 2 ? 1 : 0
            out.append((0..<count).map { n in rest + 0.1 * signal[axis][n] * Double(n) / Double(count) })
        }
        return out
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func doesWhatApplesProgramDoes(highPass: Bool, adaptive: Bool) throws {
        let signal = motion(600)
        let scaled = signal.map { $0.map { $0 * standardGravity } }
        let design = try FilterSpecification.simple(
            .init(band: highPass ? .highpass : .lowpass, corner: 5, adaptive: adaptive)
        ).design(rate: 60)
        var original = Original(highPass: highPass, cutoff: 5, rate: 60, adaptive: adaptive)
        var stage = AxisFilter(design, design, design)
        let out = run([600], scaled) { stage.process(&$0, &$1, &$2, count: $0.count) }
        for n in 0..<600 {
            original.add(signal[0][n], signal[1][n], signal[2][n])
            #expect(abs(out[n] / standardGravity - original.x) < 1e-13)
            #expect(abs(out[600 + n] / standardGravity - original.y) < 1e-13)
            #expect(abs(out[1200 + n] / standardGravity - original.z) < 1e-13)
        }
        #expect(design.settlingTime(rate: 60) > 0.1 && design.settlingTime(rate: 60) < 3)
    }

    /// Steady sections after an adaptive filter start for what comes out of it; an axis without one is left alone.
    @Test func adaptiveFiltersStandBetweenTheSectionsOfAChain() throws {
        let adaptive = FilterSpecification.simple(.init(band: .lowpass, corner: 5, adaptive: true))
        let before = FilterSpecification.butterworth(.init(band: .lowpass, corners: [20], order: 3, start: .steady))
        let after = FilterSpecification.butterworth(.init(band: .highpass, corners: [0.5], order: 2, start: .steady))
        let signal = motion(500).map { $0.map { $0 * standardGravity } }
        let chain = try FilterSpecification.chain([before, adaptive, after]).design(rate: 60)
        let plain = try after.design(rate: 60)
        var stage = AxisFilter(chain, plain, chain)
        let out = run([500], signal) { stage.process(&$0, &$1, &$2, count: $0.count) }

        // The same in steps, y beside it.
        let none = try FilterSpecification.none.design(rate: 60)
        var steps = [before, adaptive, after].map { step in
            (try? step.design(rate: 60)).map { AxisFilter($0, none, $0) } ?? AxisFilter(none, none, none)
        }
        var alone = AxisFilter(plain, plain, plain)
        let expected = run([500], signal) { x, y, z in
            for i in steps.indices { steps[i].process(&x, &y, &z, count: x.count) }
            var copy = (y, y)
            alone.process(&copy.0, &y, &copy.1, count: y.count)
        }
        #expect(out == expected)
        for cut in cuts(500).dropFirst() {
            stage.reset()
            let again = run(cut, signal) { stage.process(&$0, &$1, &$2, count: $0.count) }
            #expect(again == out)
        }
    }

    @Test func refusesCornersThatAreNotBelowHalfTheRate() throws {
        for (corner, rate) in [(30.0, 60.0), (0, 60), (-1, 60), (.nan, 60), (5, 0), (5, .infinity)] {
            for adaptive in [true, false] {
                let filter = FilterSpecification.simple(.init(band: .highpass, corner: corner, adaptive: adaptive))
                #expect(throws: FilterDesignError.self) { try filter.design(rate: rate) }
            }
        }
    }
}

/// What holds for every Butterworth filter, for settings drawn at random.
@Test func everyRandomDesignIsStableAndHasItsCorners() throws {
    var random = Noise(seed: 42)
    func magnitude(_ sections: [Section], _ frequency: Double, _ rate: Double) -> Double {
        sections.reduce(1) { product, section in
            let h = section.response(at: frequency, rate: rate)
            return product * hypot(h.re, h.im)
        }
    }
    for trial in 0..<300 {
        let rate = pow(10, 0.5 + 3 * random.uniform())
        let order = 1 + Int(random.uniform() * 10)
        let isBand = trial % 2 == 1
        // From 1/20 000 of the rate to just below its half; bands from 1 % of a decade up.
        let top = 0.499 * rate
        let low = top * pow(10, -4 * random.uniform())
        var corners = [low]
        if isBand {
            corners = [low * 0.9, min(low * pow(10, 0.01 + random.uniform()), top * 1.001)]
        }
        let first = ButterworthSpecification(band: isBand ? .bandpass : .lowpass, corners: corners, order: order)
        var second = first
        second.band = isBand ? .bandstop : .highpass
        let (a, b) = (try first.sections(rate: rate), try second.sections(rate: rate))
        let what = "\(first) at \(rate)"
        for section in a + b { #expect(section.decayPerSample > 0, "\(what)") }
        for corner in corners {
            for sections in [a, b] {
                let gain = magnitude(sections, corner, rate)
                #expect(abs(gain - 0.5.squareRoot()) < 1e-6, "\(what): \(gain) at \(corner) Hz")
            }
        }
        // What one takes of the power the other leaves.
        for _ in 0..<5 {
            let frequency = rate / 2 * pow(10, -5 * random.uniform())
            let (p, q) = (magnitude(a, frequency, rate), magnitude(b, frequency, rate))
            #expect(abs(p * p + q * q - 1) < 1e-6, "\(what): \(p * p + q * q) at \(frequency) Hz")
        }
    }
}
