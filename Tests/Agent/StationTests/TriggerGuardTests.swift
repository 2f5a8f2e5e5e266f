import Foundation
import Settings
import SignalProcessing
import Testing

@testable import Station

/// What a cheap sensor does that is no earthquake, through the whole pipeline, with the guard and without.
@Suite struct TriggerGuardTests {
    enum Disturbance: CaseIterable {
        case spike, glitch, step, oneAxis, stall, shaking
    }

    /// Events alone.
    private func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        testConfiguration {
            $0.trace.enabled = false
            $0.waveform.enabled = false
            change(&$0)
        }
    }

    /// Noise of 1 mm/s² with a disturbance in its middle.
    private func recording(_ kind: Disturbance, rate: Double) -> Recording {
        var state: UInt64 = 11
        func noise() -> Double {
            var sum = 0.0
            for _ in 0..<4 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                sum += Double(state >> 40) / Double(1 << 24) - 0.5
            }
            return sum * 1.7e-3
        }
        let n = Int(90 * rate)
        var axes = [[Double]](repeating: [], count: 3)
        for _ in 0..<n { for axis in 0..<3 { axes[axis].append(noise()) } }
        let i = Int(45.3 * rate)
        switch kind {
        case .spike: for axis in 0..<3 { axes[axis][i] += 0.3 }
        case .glitch: for k in 0..<3 { axes[1][i + k] += 5 }
        case .step: for k in i..<n { for axis in 0..<3 { axes[axis][k] += 0.2 * Double(axis + 1) } }
        case .oneAxis:
            for k in i..<i + Int(3 * rate) { axes[2][k] += 0.02 * sin(2 * .pi * 4 * Double(k) / rate) }
        case .stall:
            for axis in 0..<3 {
                for k in Int(33 * rate)..<Int(70 * rate) { axes[axis][k] = axes[axis][Int(33 * rate)] }
            }
        case .shaking:
            for k in i..<i + Int(3 * rate) {
                for axis in 0..<3 { axes[axis][k] += 0.01 * sin(2 * .pi * 4 * Double(k) / rate + Double(axis)) }
            }
        }
        return Recording(rate: rate, x: axes[0], y: axes[1], z: axes[2])
    }

    @Test(arguments: Disturbance.allCases, [31.25, 100])
    func onlyShakingIsAnEvent(kind: Disturbance, rate: Double) throws {
        let blocks = recording(kind, rate: rate).blocks(of: 50)
        func onsets(guarded: Bool) throws -> [String] {
            let configuration = configuration {
                $0.detection.level.enabled = false
                $0.detection.staLTA.guard.enabled = guarded
            }
            return try play(blocks, configuration, rate: rate).sent.compactMap {
                $0.name == "event/trigger" && $0.json["event_type"] as? String == "onset"
                    ? $0.json["onset"] as? String : nil
            }
        }
        #expect(try onsets(guarded: false).count == 1, "the plain rule triggers")
        #expect(try onsets(guarded: true).count == (kind == .shaking ? 1 : 0))
    }

    @Test func anyBlockSizeGivesTheSameBytes() throws {
        let recording = recording(.shaking, rate: 100)
        let gaps = [500: 5, 8000: 1000]
        let whole = try play(recording.blocks(of: 9000, gaps: gaps), configuration()).sent
        #expect(whole.contains { $0.name == "event/last" })
        for size in [1, 13, 1000] {
            let cut = try play(recording.blocks(of: size, gaps: gaps), configuration()).sent
            #expect(cut == whole, "blocks of \(size)")
        }
    }

    /// A sensor with one axis: the two that are not there need not agree.
    @Test func axesThatAreNotThereDoNotCount() throws {
        var recording = recording(.shaking, rate: 100)
        recording.x = [Double](repeating: 0, count: recording.x.count)
        recording.y = [Double](repeating: 9.80665, count: recording.x.count)
        let sent = try play(recording.blocks(of: 100), configuration()).sent
        #expect(sent.filter { $0.name == "event/last" }.count == 1)
    }

    /// Noise that has come to stay is one event, which ends, not one after another for ever.
    @Test func noiseThatStaysIsOneEvent() throws {
        var recording = recording(.spike, rate: 31.25)
        (recording.x, recording.y, recording.z) = ([], [], [])
        let n = Int(900 * 31.25)
        let quiet = self.recording(.stall, rate: 31.25)
        for i in 0..<n {
            let k = i % Int(32 * 31.25)
            let gain = i < n / 4 ? 1.0 : 3.0
            recording.x.append(quiet.x[k] * gain)
            recording.y.append(quiet.y[k] * gain)
            recording.z.append(quiet.z[k] * gain)
        }
        let sent = try play(recording.blocks(of: 100), configuration(), rate: 31.25).sent
        #expect(sent.filter { $0.name == "event/last" }.count == 1)
        #expect(sent.last { $0.name == "state/summary" }?.json["triggered"] as? Bool == false)
    }
}
