import Foundation
import SignalProcessing
import Testing

@testable import Vibration

@Suite struct VibrationMeterTests {
    private func measurement(_ band: VibrationBand, interval: Int = 10) -> VibrationMeasurement {
        var measurement = VibrationMeasurement()
        (measurement.band, measurement.interval) = (band, interval)
        return measurement
    }

    /// The acceleration of a sine of 10 mm/s.
    private func acceleration(_ f: Double) -> Double { 0.01 * 2 * Double.pi * f }

    @Test(arguments: [(100.0, 1.0, 40.0), (200, 1, 80), (800, 1, 315), (800, 1, 80), (1600, 10, 640), (2500, 10, 1000)])
    func tenMillimetresASecondAreTen(_ rate: Double, _ lower: Double, _ upper: Double) throws {
        let band =
            upper == 80
            ? VibrationBand.din : upper == 315 ? .din315 : upper == 1000 ? .machine : .init(lower: lower, upper: upper)
        let (low, high) = (1.4 * lower, 0.67 * upper)
        // A quarter of the rate with samples halfway between peak and zero is the worst of all.
        let frequencies = (0...12).map { low * pow(high / low, Double($0) / 12) } + [rate / 4]
        for f in frequencies where f <= high {
            let samples = sine(
                f, amplitude: acceleration(f), phase: .pi / 4 + 0.05, rate: rate, seconds: 24, axis: 2)
            let run = try MeterRun(measurement(band), rate: rate, samples)
            let axis = run.intervals[1].axes[2]
            #expect(abs(axis.ppv / 10 - 1) < 0.05, "\(axis.ppv) mm/s at \(f) Hz")
            #expect(abs(axis.rms * 2.squareRoot() / 10 - 1) < 0.05, "\(axis.rms) mm/s rms at \(f) Hz")
            let found = try #require(axis.frequency)
            #expect(abs(found / f - 1) < 0.05, "\(found) instead of \(f) Hz")
            #expect(run.intervals[1].axes[0] == VibrationInterval.Axis())
            #expect(run.intervals[1].pvs == axis.ppv)
        }
    }

    /// Of the standard's own curve, also where that is not flat any more.
    @Test(arguments: [100.0, 200, 800]) func amplitudeFollowsTheCurveOfTheBand(_ rate: Double) throws {
        let band = VibrationBand(lower: 1, upper: 0.4 * rate)
        for f in [0.8, 1, 1.25, 3, 0.1 * rate, 0.2 * rate, 0.32 * rate] {
            let samples = sine(f, amplitude: acceleration(f), rate: rate, seconds: 34)
            let run = try MeterRun(measurement(band), rate: rate, samples)
            let curve = 1 / ((1 + pow(0.8 / f, 4)) * (1 + pow(f / (0.5 * rate), 4))).squareRoot()
            let ratio = run.intervals[2].axes[0].rms * 2.squareRoot() / 10 / curve
            #expect(abs(ratio - 1) < 0.013, "\(ratio) at \(f) Hz")
        }
    }

    @Test func bandsAreRefusedWithTheRateThatTheyNeed() throws {
        #expect(throws: VibrationError.band(.din, rate: 100)) { try VibrationMeter(measurement(.din), rate: 100) }
        #expect(VibrationError.band(.din, rate: 100).message.contains("at least 200 samples a second"))
        #expect(VibrationError.band(.machine, rate: 100).message.contains("at least 2500 samples a second"))
        #expect(throws: Never.self) { try VibrationMeter(measurement(.din), rate: 199.9) }
        #expect(throws: VibrationError.corners(40, 1)) {
            try VibrationMeter(measurement(.init(lower: 40, upper: 1)), rate: 100)
        }
        for interval in [0, 9, 11, 7200] {
            #expect(throws: VibrationError.interval(interval)) {
                try VibrationMeter(measurement(.din, interval: interval), rate: 200)
            }
        }
    }

    @Test func withoutCrossingsThereIsNoFrequency() throws {
        // One slope that has no end: the velocity crosses zero before its peak, not after it.
        let samples = [[Double]](repeating: (0..<5000).map { $0 < 4960 ? 0 : 0.1 }, count: 3)
        let run = try MeterRun(measurement(.din), rate: 200, samples)
        #expect(run.intervals.last?.axes[0].frequency == nil)
        #expect((run.intervals.last?.axes[0].ppv ?? 0) > 5)
    }

    @Test func gapsAreCountedAndTheirSamplesAreMissed() throws {
        let samples = sine(10, amplitude: acceleration(10), rate: 200, seconds: 50)
        let run = try MeterRun(
            measurement(.din, interval: 60), rate: 200, samples, start: 1_700_000_040_000_000_000, gaps: [4000: 7.5])
        let interval = run.intervals[0]
        #expect(interval.gaps == 1)
        // 50 s without twice the time of settling; 7.5 s later.
        #expect(interval.seconds > 40 && interval.seconds < 45)
        #expect(interval.samples == Int((interval.seconds * 200).rounded()))
        #expect(abs(interval.axes[0].ppv / 10 - 1) < 0.02)
    }

    /// A machine that runs when measuring begins: its first sample is not the level, and what that leaves is no vibration.
    @Test(arguments: [(40.0, 7.0), (25, 3), (12, 2), (3, 5)]) func aStartInMotionIsNotMeasured(
        _ f: Double, _ peak: Double
    ) throws {
        let samples = sine(f, amplitude: peak / 10 * acceleration(f), phase: .pi / 2, rate: 500, seconds: 60)
        let measurement = measurement(.din, interval: 10)
        for offset in [0, standardGravity] {
            let run = try MeterRun(measurement, rate: 500, samples.map { $0.map { $0 + offset } })
            let steady = try #require(run.intervals.dropLast().last).axes[0]
            for interval in run.intervals.dropLast() {
                #expect(abs(interval.axes[0].ppv / steady.ppv - 1) < 0.025, "\(interval.axes[0].ppv) of \(peak)")
                let frequency = try #require(interval.axes[0].frequency)
                #expect(abs(frequency / f - 1) < 0.05, "\(frequency) of \(f) Hz")
            }
            #expect(run.intervals.count >= 5)
        }
    }

    /// A gap over which the filters are given the motion costs their settling time alone, and a new start no more than that
    /// where the machine stands.
    @Test func aGapThatIsBridgedLeavesNothing() throws {
        let samples = sine(40, amplitude: 0.7 * acceleration(40), phase: .pi / 2, rate: 500, seconds: 60)
        var meter = try VibrationMeter(measurement(.din, interval: 10), rate: 500)
        let start: Int64 = 1_700_000_010_000_000_000
        var intervals: [VibrationInterval] = []
        for place in stride(from: 0, to: 29_900, by: 100) {
            let planes = (0..<3).flatMap { Array(samples[$0][place..<place + 100]) }
            let times = (0..<100).map { start + Int64(place + $0) * 2_000_000 }
            if place == 15_000 { meter.interrupt() }
            if (15_000..<15_200).contains(place) {
                meter.bridge(planes, stride: 100, count: 100)
            } else {
                meter.process(planes, stride: 100, times: times, count: 100)
                intervals += meter.completed.map(\.interval)
            }
        }
        let hit = try #require(intervals.first { $0.gaps == 1 })
        #expect(abs(hit.axes[0].ppv / 7 - 1) < 0.02 && hit.interruptions == .gap && hit.seconds > 7)
    }

    /// Why an interval is not whole stands in it, and in the one in which measuring goes on.
    @Test func interruptionsAreTold() throws {
        let measurement = measurement(.din, interval: 10)
        let samples = sine(10, amplitude: 1, rate: 200, seconds: 65)
        let start: Int64 = 1_700_000_040_000_000_000
        let run = try MeterRun(measurement, rate: 200, samples, start: start)
        #expect(run.intervals.map(\.interruptions) == [.start, [], [], [], [], [], .stop])
        // A gap within an interval, and one from 25 to 47.5 s.
        let short = try MeterRun(measurement, rate: 200, samples, start: start, gaps: [4400: 0.5])
        #expect(short.intervals.map(\.interruptions) == [.start, [], .gap, [], [], [], .stop])
        let long = try MeterRun(measurement, rate: 200, samples, start: start, gaps: [5000: 22.5])
        #expect(long.intervals.map(\.interruptions) == [.start, [], .gap, .gap, [], [], .stop])
        #expect(long.intervals.map { ($0.start - start) / 10_000_000_000 } == [0, 1, 2, 5, 6, 7, 8])
        #expect(VibrationInterval.Interruptions(names: ["gap", "none", "stop"]) == [.gap, .stop])
        #expect(VibrationInterval.Interruptions(names: VibrationInterval.Interruptions.allNames).rawValue == 15)
    }

    @Test func intervalsAreAlignedToUTC() throws {
        let samples = sine(10, amplitude: 1, rate: 100, seconds: 65)
        let run = try MeterRun(
            measurement(.init(lower: 1, upper: 40), interval: 20), rate: 100, samples,
            start: 1_700_000_013_000_000_000)
        #expect(run.intervals.map { $0.start / 1_000_000_000 % 20 } == [0, 0, 0, 0])
        #expect(run.intervals.map(\.samples).dropFirst().prefix(2) == [2000, 2000])
    }

    /// VDV = (3/8)^¼ a T^¼ = 1.107 a_rms T^¼.
    @Test(arguments: FrequencyWeighting.all) func doseOfASine(_ weighting: FrequencyWeighting) throws {
        var measurement = measurement(.din, interval: 30)
        measurement.weightings = [weighting, weighting, weighting]
        let samples = sine(8.1, amplitude: 0.5, rate: 200, seconds: 64)
        let axis = try MeterRun(measurement, rate: 200, samples).intervals[1].axes[0]
        #expect(abs(axis.dose / (axis.weightedRMS * pow(30, 0.25)) - 1.1067) < 0.0005)
        #expect(abs(axis.weightedRMS * 2.squareRoot() / 0.5 / weighting.gain(at: 8.1) - 1) < 0.02)
        #expect(abs(axis.dose - axis.doseFourth.squareRoot().squareRoot()) < 1e-12)
    }

    /// KB_F of a sine that stays: its velocity's effective value through the high pass of 5.6 Hz.
    @Test(arguments: [3.0, 5.6, 20]) func feltStrengthOfASine(_ f: Double) throws {
        let samples = sine(f, amplitude: acceleration(f), rate: 800, seconds: 64)
        let axis = try MeterRun(measurement(.din, interval: 30), rate: 800, samples).intervals[1].axes[0]
        let mean = 10 / 2.squareRoot() / (1 + pow(5.6 / f, 2)).squareRoot()
        // The mean over 0.125 s still follows the single waves.
        #expect(axis.kbFmax / mean > 0.99 && axis.kbFmax / mean < 1.2, "\(axis.kbFmax) instead of \(mean)")
        #expect(axis.kbFTm == axis.kbFmax)
    }

    /// One short burst in the first of two takts: KB_FTm is the largest divided by √2, as the other takt counts as 0.
    @Test func quietTaktsCountAsZero() throws {
        let length = 200 * 122
        var samples = [[Double]](repeating: [Double](repeating: 0, count: length), count: 3)
        for i in 0..<200 { samples[1][200 * 65 + i] = sin(2 * Double.pi * 20 * Double(i) / 200) }
        let run = try MeterRun(measurement(.din, interval: 60), rate: 200, samples, start: 1_700_000_040_000_000_000)
        let axis = run.intervals[1].axes[1]
        #expect(axis.kbFmax > 1)
        #expect(abs(axis.kbFTm / axis.kbFmax - 0.5.squareRoot()) < 1e-9)
        #expect(run.intervals[1].axes[0].kbFTm == 0)
    }
}
