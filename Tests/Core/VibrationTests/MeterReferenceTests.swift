import Foundation
import TestSupport
import Testing

@testable import Vibration

/// Against `Tests/Vectors/vibration/meter.json`, which SciPy has made of the same samples.
@Suite struct MeterReferenceTests {
    struct Reference: Decodable {
        struct Case: Decodable {
            var rate: Double
            var lower: Double
            var upper: Double
            var weightings: [String]
            var interval: Int
            var seconds: Double
            var start: Int64
            var intervals: [Interval]
        }
        struct Interval: Decodable {
            var start: Int64
            var samples: Int
            var axes: [Axis]
            var pvs: Double
            /// By the name of a limit: that of the half cycle that is nearest to it.
            var shares: [String: Double]
        }
        struct Axis: Decodable {
            var ppv: Double
            var time: Double
            var frequency: Double
            var rms: Double
            var displacement: Double
            var acceleration: Double
            var kbFmax: Double
            var kbFtm: Double
            var awRms: Double
            var vdv: Double
        }
        var cases: [Case]
    }

    static let reference: [Reference.Case]? = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(Reference.self, from: Vectors.data("vibration/meter.json")).cases
    }()

    /// The program's `acceleration`.
    private func samples(_ one: Reference.Case) -> [[Double]] {
        let count = Int((one.rate * one.seconds).rounded())
        var state: UInt64 = 11
        var noise = [[Double]](repeating: [], count: 3)
        for _ in 0..<count {
            for axis in 0..<3 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                noise[axis].append((Double(state >> 40) / Double(1 << 24) - 0.5) * 0.05)
            }
        }
        var all = noise
        for i in 0..<count {
            let t = Double(i) / one.rate
            let w = 2 * Double.pi * t
            let burst = exp(-pow(t.truncatingRemainder(dividingBy: 19) - 7.3, 2) / 0.5)
            let sweep = 0.04 * sin(2 * Double.pi * (t + (0.3 * one.rate - 1) * t * t / (2 * one.seconds)))
            let step = t >= 0.41 * one.seconds && t < 0.73 * one.seconds ? 0.08 : 0
            all[0][i] += 0.3 * sin(w * 6.3) * burst + sweep
            all[1][i] += 0.1 * sin(w * 17.1 + 0.4) + 0.2 * burst + step
            all[2][i] += 0.25 * cos(w * 0.21 * one.rate) + 0.05 * sin(w * 2.7)
        }
        return all
    }

    private func measurement(_ one: Reference.Case) throws -> VibrationMeasurement {
        var measurement = VibrationMeasurement()
        measurement.band = VibrationBand(lower: one.lower, upper: one.upper)
        if one.upper == 80 { measurement.band = .din }
        if one.upper == 315 { measurement.band = .din315 }
        measurement.weightings = try one.weightings.map { name in
            try #require(FrequencyWeighting.all.first { $0.name == name })
        }
        measurement.interval = one.interval
        return measurement
    }

    @Test(arguments: 0..<4) func everyQuantityIsThatOfSciPy(_ number: Int) throws {
        let one = try #require(Self.reference)[number]
        let run = try MeterRun(try measurement(one), rate: one.rate, samples(one), start: one.start)
        // The last interval is not over.
        #expect(run.intervals.count == one.intervals.count + 1)
        for (ours, theirs) in zip(run.intervals, one.intervals) {
            #expect(ours.start == theirs.start)
            #expect(ours.samples == theirs.samples)
            expectClose(ours.pvs, theirs.pvs, "pvs")
            for (name, share) in theirs.shares {
                let limit = try #require(VibrationLimit(name))
                expectClose(limit.share(of: ours, doses: [], isNight: false).ratio, share, name)
            }
            for (a, b) in zip(ours.axes, theirs.axes) {
                expectClose(a.ppv, b.ppv, "ppv")
                #expect(abs(Double(a.ppvTime - one.start) / 1e9 - b.time) < 2e-6)
                expectClose(a.frequency ?? 0, b.frequency, "frequency")
                expectClose(a.rms, b.rms, "rms")
                expectClose(a.displacement, b.displacement, "displacement")
                expectClose(a.acceleration, b.acceleration, "acceleration")
                expectClose(a.kbFmax, b.kbFmax, "kb_fmax")
                expectClose(a.kbFTm, b.kbFtm, "kb_ftm")
                expectClose(a.weightedRMS, b.awRms, "aw_rms")
                expectClose(a.dose, b.vdv, "vdv")
            }
        }
    }

    private func expectClose(_ ours: Double, _ theirs: Double, _ what: String) {
        #expect(abs(ours - theirs) <= 1e-6 * abs(theirs), "\(what): \(ours) instead of \(theirs)")
    }

    @Test(arguments: [[1], [7, 128, 3, 61, 1, 19], [127]]) func anyCutsGiveTheSameBits(_ cuts: [Int]) throws {
        let one = try #require(Self.reference)[0]
        let (samples, measurement) = (samples(one), try measurement(one))
        let gaps = [3211: 4.5, 7000: 0.02]
        let whole = try MeterRun(measurement, rate: one.rate, samples, start: one.start, gaps: gaps)
        let cut = try MeterRun(measurement, rate: one.rate, samples, start: one.start, cuts: cuts, gaps: gaps)
        #expect(whole.intervals == cut.intervals)
        #expect(whole.intervals.count == 4)
    }
}
