import Foundation
import Messages
import Settings
import SignalProcessing
import TestSupport
import Testing

@testable import Station

/// Spikes of a single sample, as cables, supplies and buses make them, through the whole pipeline at its default rule.
@Suite struct SpikeGuardTests {
    /// Short events, and nothing but events.
    private func configuration(guarded: Bool = true, _ change: (inout Configuration) -> Void = { _ in })
        -> Configuration
    {
        testConfiguration {
            $0.trace.enabled = false
            $0.waveform.enabled = false
            $0.detection.level.spikeGuard = guarded
            $0.detection.event.preEvent = 0
            $0.detection.event.postEvent = 1
            $0.detection.event.deadTime = 0
            change(&$0)
        }
    }

    /// Seconds from the first sample to each onset, of events that a detector began, or of all.
    private func onsets(
        _ recording: Recording, _ configuration: Configuration, by detector: String? = nil
    ) throws -> [Double] {
        try play(recording.blocks(of: 128), configuration, rate: recording.rate).sent.compactMap {
            guard $0.name == "event/trigger", $0.json["event_type"] as? String == "onset" else { return nil }
            let detectors = ($0.json["detectors"] as? [[String: Any]])?.compactMap { $0["name"] as? String } ?? []
            guard detector.map({ detectors.contains($0) }) ?? true else { return nil }
            let text = $0.json["onset"] as? String ?? ""
            return Double(parsed(text) - recording.start) / 1e9
        }
    }

    /// Nanoseconds of UTC of a time within the day on which recordings start.
    private func parsed(_ text: String) -> Int64 {
        let parts = text.dropFirst(11).dropLast().split(separator: ":").compactMap { Double($0) }
        return 1_767_571_200_000_000_000 + Int64((parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1e9)
    }

    /// Noise of 0.3 mg and a hum, gravity on z.
    private func quiet(seconds: Double, rate: Double, _ random: inout SplitMix64) -> Recording {
        let n = Int(seconds * rate)
        var axes = [[Double]](repeating: [], count: 3)
        for i in 0..<n {
            for axis in 0..<3 {
                let noise = (0..<4).reduce(0) { sum, _ in sum + Double.random(in: -0.5...0.5, using: &random) }
                let hum = 2e-3 * sin(2 * .pi * 9 * Double(i) / rate + Double(axis))
                axes[axis].append(5e-3 * noise + hum + (axis == 2 ? 9.80665 : 0))
            }
        }
        return Recording(rate: rate, x: axes[0], y: axes[1], z: axes[2])
    }

    /// 600 spikes in all, of 0.01 to 4 g, on one or three axes: none is an event by its level, half are without the guard.
    /// One of them, on three axes at once, is one by STA/LTA, whose guard is another one.
    @Test(arguments: [(31.25, 200, 120), (100, 200, 90), (200, 150, 40), (500, 50, 8)])
    func aSpikeIsNoEvent(rate: Double, trials: Int, unguarded: Int) throws {
        var random = SplitMix64(state: 24_014)
        let gap = 6.0
        var recording = quiet(seconds: 35 + Double(trials) * gap, rate: rate, &random)
        for trial in 0..<trials {
            let i = Int((35 + Double(trial) * gap + Double.random(in: 0...1, using: &random)) * rate)
            let all = Bool.random(using: &random)
            let one = Int.random(in: 0...2, using: &random)
            // 0.2 g is what was reported.
            let size = trial % 5 == 0 ? 0.2 : pow(10, Double.random(in: -2...0.6, using: &random))
            for axis in 0..<3 where all || axis == one {
                let share = all ? Double.random(in: 0.5...1, using: &random) : 1
                let height = size * 9.80665 * share * (Bool.random(using: &random) ? 1 : -1)
                if axis == 0 { recording.x[i] += height }
                if axis == 1 { recording.y[i] += height }
                if axis == 2 { recording.z[i] += height }
            }
        }
        #expect(try onsets(recording, configuration(), by: "level") == [])
        #expect(try onsets(recording, configuration()).count <= (rate == 200 ? 1 : 0))
        #expect(try onsets(recording, configuration(guarded: false)).count >= unguarded)
    }

    /// Shaking begins where it does without the guard, whatever its frequency, also when its first swing is one sample.
    @Test(arguments: [31.25, 100, 200, 500], [1.5, 4, 9])
    func shakingBeginsWhereItDidWithoutIt(rate: Double, frequency: Double) throws {
        var random = SplitMix64(state: 7)
        var recording = quiet(seconds: 60, rate: rate, &random)
        for i in Int(40.2 * rate)..<Int(45 * rate) {
            let t = Double(i) / rate - 40.2
            recording.x[i] += 0.6 * exp(-t / 2) * sin(2 * .pi * frequency * t)
            recording.z[i] += 0.3 * exp(-t / 2) * sin(2 * .pi * frequency * t + 1)
        }
        // One sample that stands out of all that comes after it.
        recording.z[Int(40.2 * rate)] += 3
        let level = { (guarded: Bool) in
            self.configuration(guarded: guarded) { $0.detection.staLTA.enabled = false }
        }
        let found = try onsets(recording, level(true))
        #expect(found.count == 1)
        #expect(try found == onsets(recording, level(false)))
    }

    /// Shaking soon after a spike is found, and not later than without the spike; but not at the spike.
    @Test(arguments: [0.1, 0.3, 0.9, 2]) func shakingAfterASpikeIsFound(after: Double) throws {
        var random = SplitMix64(state: 8)
        var recording = quiet(seconds: 60, rate: 100, &random)
        for i in 4000..<4500 { recording.x[i] += 0.4 * sin(2 * .pi * 4 * Double(i) / 100) }
        let level = configuration { $0.detection.staLTA.enabled = false }
        let alone = try onsets(recording, level)
        recording.x[4000 - Int(after * 100)] += 20
        let found = try onsets(recording, level)
        #expect(found.count == 1 && alone.count == 1)
        #expect(found[0] >= 40 && found[0] <= alone[0] + 0.011)
    }

    @Test func anyBlockSizeGivesTheSameBytes() throws {
        var random = SplitMix64(state: 9)
        var recording = quiet(seconds: 40, rate: 100, &random)
        for i in [500, 504, 1200, 1256, 1257, 1900, 2047, 2048, 2300] { recording.y[i] += 9 }
        for i in 2350..<2600 { recording.x[i] += 0.4 * sin(2 * .pi * 4 * Double(i) / 100) }
        let gaps = [700: 5, 2301: 300]
        let whole = try play(recording.blocks(of: 4000, gaps: gaps), configuration()).sent
        #expect(whole.contains { $0.name == "event/last" })
        for size in [1, 13, 1000] {
            let cut = try play(recording.blocks(of: size, gaps: gaps), configuration()).sent
            #expect(cut == whole, "blocks of \(size)")
        }
    }

    /// The guard goes on over a change of settings that is not its own, and begins anew with one of the filter.
    @Test func aChangeOfOtherSettingsKeepsIt() throws {
        var random = SplitMix64(state: 10)
        var recording = quiet(seconds: 20, rate: 100, &random)
        recording.y[1000] += 9
        var pipeline = try StationPipeline(
            configuration: configuration(), sensor: StationSensor(rate: 100, range: nil), boot: "boot")
        var events = 0
        let sink: PublicationSink = { header, _ in if header.topic.hasSuffix("event/trigger") { events += 1 } }
        for (number, block) in recording.blocks(of: 10).enumerated() {
            pipeline.process(block, quality: .replay, to: sink)
            if number == 101 {
                try pipeline.reconfigure(configuration { $0.detection.event.postEvent = 2 }, revision: 1, to: sink)
            }
        }
        #expect(events == 0)
    }
}
