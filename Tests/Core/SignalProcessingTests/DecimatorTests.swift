import Foundation
import TestSupport
import Testing

@testable import SignalProcessing

@Suite struct DecimatorTests {
    /// Everything that one signal becomes, given in pieces, to its end.
    private func decimate(_ x: [Double], _ filter: DecimationFilter, cut: [Int]? = nil, lanes: Int = 1) -> [[Double]] {
        var decimator = Decimator(filter: filter, lanes: lanes, chunk: max(x.count, 1))
        return run(&decimator, x, cut: cut)
    }

    /// Lane k gets the signal times k + 1.
    private func run(_ decimator: inout Decimator, _ x: [Double], cut: [Int]? = nil) -> [[Double]] {
        var out = [[Double]](repeating: [], count: decimator.lanes)
        var room = [Double](repeating: .nan, count: decimator.chunk * decimator.stride)
        func take(_ n: Int) {
            for k in 0..<n { for lane in out.indices { out[lane].append(room[k * decimator.stride + lane]) } }
        }
        var start = 0
        for size in cut ?? [x.count] {
            for lane in out.indices {
                let piece = x[start..<start + size].map { $0 * Double(lane + 1) }
                decimator.load(piece, lane: lane, count: size)
            }
            take(decimator.run(size, into: &room))
            start += size
        }
        for _ in 0..<decimator.filter.delay { take(decimator.repeatLast(1, into: &room)) }
        return out
    }

    /// The response of the whole, at a frequency in cycles per input sample: by the noble identity the product of the
    /// stages' responses at their own rates.
    private func magnitude(_ filter: DecimationFilter, _ frequency: Double) -> Double {
        var (gain, reached) = (1.0, 1)
        for stage in filter.stages {
            gain *= stage.gain(at: frequency * Double(reached))
            reached *= stage.factor
        }
        for section in filter.sections {
            let (re, im) = section.response(at: frequency, rate: 1)
            gain *= hypot(re, im)
        }
        return abs(gain)
    }

    @Test(arguments: [DecimationPhase.linear, .recursive])
    func passBandAndStopBandAreAsPromisedForEveryFactor(phase: DecimationPhase) {
        for factor in 2...100 {
            let filter = DecimationFilter(factor: factor, phase: phase)
            let nyquist = 0.5 / Double(factor)
            let pass: [Double] = (0...50).map { (i: Int) -> Double in
                magnitude(filter, 0.8 * nyquist * Double(i) / 50)
            }
            #expect(abs(pass[0] - 1) < 1e-12)
            for gain in pass { #expect(abs(20 * log10(gain)) < 0.1, "factor \(factor)") }
            // The edges of all bands that fold, where the stop band is worst, and places between at odd distances.
            var stop: [Double] = []
            for k in 1...factor {
                for place in [-1.0, -0.7, 0.31, 1] { stop.append((2 * Double(k) + place) * nyquist) }
            }
            for i in 0...60 { stop.append(nyquist * (1 + Double(i) / 60)) }
            let worst = stop.filter { $0 >= nyquist && $0 <= 0.5 }.map { magnitude(filter, $0) }.max() ?? 1
            #expect(20 * log10(worst) < -80, "factor \(factor): \(20 * log10(worst))")
        }
    }

    @Test func stagesAreTakenWhereTheyCostLess() {
        for factor in 2...100 {
            let filter = DecimationFilter(factor: factor)
            #expect(filter.stages.reduce(1) { $0 * $1.factor } == factor)
            #expect(filter.cost < 38.01)
        }
        #expect(DecimationFilter(factor: 97).stages.count == 1)
        #expect(DecimationFilter(factor: 10).cost < 16)
        #expect(DecimationFilter(factor: 100).cost < 6)
        // A factor far beyond what is asked for is planned in no time.
        #expect(DecimationFilter(factor: 36_000).stages.count > 2)
    }

    /// The phase of a sine in a decimated trace, as a delay against the original.
    @Test(arguments: [2, 5, 10, 50, 97, 100]) func aDecimatedTraceLiesOnTheOriginal(factor: Int) {
        let filter = DecimationFilter(factor: factor)
        // A whole number of periods of 10 outputs each, far from both ends.
        let w = 2 * Double.pi / Double(10 * factor)
        let n = 2 * filter.delay + 100 * factor
        let out = decimate((0..<n).map { 3 + sin(w * Double($0)) }, filter)[0]
        #expect(out.count == (n + factor - 1) / factor)
        let first = filter.delay / factor + 1
        var (sine, cosine) = (0.0, 0.0)
        for k in first..<first + 90 {
            sine += out[k] * sin(w * Double(k * factor)) / 45
            cosine += out[k] * cos(w * Double(k * factor)) / 45
        }
        #expect(abs(atan2(-cosine, sine) / w) < 1e-9)
        #expect(abs(hypot(sine, cosine) - 1) < 1e-3)
    }

    /// SciPy's filter in our decimator makes SciPy's numbers of a real record, earlier by the delay that SciPy leaves.
    @Test func aRealRecordIsDecimatedAsByTheReference() throws {
        func columns(_ file: String, _ column: Int) throws -> [Double] {
            try String(decoding: Vectors.data("records/r10_ridgecrest38_tow2_\(file).csv"), as: UTF8.self)
                .split(separator: "\n").dropFirst().compactMap { Double($0.split(separator: ",")[column]) }
        }
        var signal = try columns("head", 1)
        let expected = try columns("decimated", 1)
        try #require(signal.count == 300 && expected.count == 55)
        let mean = signal[..<200].reduce(0, +) / 200
        signal = signal.map { $0 - mean }
        var taps = (0...40).map { n in
            let x = Double(n) / 4
            return (n == 0 ? 1 : sin(.pi * x) / (.pi * x)) * (0.54 + 0.46 * cos(2 * .pi * Double(n) / 80))
        }
        let sum = taps[0] + 2 * taps[1...].reduce(0, +)
        taps = taps.map { $0 / sum }
        let out = decimate(signal, DecimationFilter(stage: DecimationStage(factor: 4, coefficients: taps)))[0]
        let peak = expected.map(abs).max() ?? 0
        for (k, y) in expected.enumerated() { #expect(abs(out[k + 10] - y) < 1e-7 * peak) }
    }

    /// Of a recursive filter the stated delay is that of low frequencies.
    @Test(arguments: [2, 5, 97]) func theDelayOfARecursiveFilterIsKnown(factor: Int) {
        let filter = DecimationFilter(factor: factor, phase: .recursive)
        #expect(filter.delay < DecimationFilter(factor: factor).delay / 5)
        #expect(abs(filter.fraction) <= 0.5)
        // A straight line, once what the start has caused is over: its height is where it is in time.
        let n = 400 * factor
        let out = decimate((0..<n).map { Double($0) }, filter)[0]
        let k = 350
        #expect(abs(out[k] - (Double(k * factor) - filter.fraction)) < 1e-6)
    }

    /// SciPy's elliptic design with our ripple has the same response.
    @Test func theRecursiveFilterIsTheOneOfTheTextbook() {
        let filter = DecimationFilter(factor: 5, phase: .recursive)
        for (frequency, expected) in ellipticReference {
            #expect(abs(magnitude(filter, frequency) - expected) < 1e-7, "\(frequency)")
        }
    }

    @Test(arguments: [DecimationPhase.linear, .recursive])
    func anyCutAndAnyLaneGivesTheSameBits(phase: DecimationPhase) {
        var noise = Noise(seed: 11)
        let x = noise.samples(500)
        for factor in [1, 5, 12] {
            let filter = DecimationFilter(factor: factor, phase: phase)
            let whole = decimate(x, filter)[0]
            for cut in cuts(500) { #expect(decimate(x, filter, cut: cut)[0] == whole) }
            // Powers of two keep all bits; lanes beyond ten are convolved by twos.
            let many = decimate(x, filter, lanes: 13)
            for lane in [0, 1, 3, 7] {
                for (a, b) in zip(many[lane], whole) {
                    #expect(abs(a - Double(lane + 1) * b) < 1e-14 * Double(lane + 1))
                }
            }
            for (a, b) in zip(many[11], whole) { #expect(abs(a - 12 * b) < 1e-13) }
        }
    }

    @Test(arguments: [DecimationPhase.linear, .recursive]) func aConstantHasNoRamp(phase: DecimationPhase) {
        for factor in [4, 60] {
            let out = decimate([Double](repeating: 9.80665, count: 500), .init(factor: factor, phase: phase))[0]
            #expect(out.count == (500 + factor - 1) / factor)
            for y in out { #expect(abs(y - 9.80665) < 1e-12) }
        }
    }

    @Test func factorOneIsTheSignalItself() {
        for phase in DecimationPhase.allCases {
            #expect(decimate([1.5, -2, 7], DecimationFilter(factor: 1, phase: phase))[0] == [1.5, -2, 7])
        }
    }

    @Test(arguments: [DecimationPhase.linear, .recursive]) func aResetDecimatorIsLikeANewOne(phase: DecimationPhase) {
        var noise = Noise(seed: 10)
        let signal = noise.samples(400)
        var decimator = Decimator(filter: DecimationFilter(factor: 6, phase: phase), lanes: 3, chunk: 400)
        let first = run(&decimator, signal)
        decimator.reset()
        #expect(run(&decimator, signal) == first)
    }
}

/// Frequency in cycles per sample and gain: `scipy.signal.ellip(10, 0.005473271549489947, 80.5, ...)` to 0.08 cycles, with
/// the ripple that SciPy's `ellipk` and `ellipj` give for the degree equation, and divided by the gain at 0.
private let ellipticReference = [
    (0.03, 1.00000639652), (0.06, 1.00037484249), (0.075, 1.00061310778), (0.08, 1), (0.09, 0.0413108248498),
    (0.1, 9.44655944092e-05), (0.13, 5.12321588413e-05), (0.2, 7.65375792902e-05), (0.37, 4.08793434363e-05),
]
