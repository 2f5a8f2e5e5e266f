import Foundation
import Messages
import Settings
import SignalProcessing
import Testing

@testable import Station

/// What must hold for any settings and any samples. `deploy/checks/fuzz` looks for more of the same.
@Suite struct PropertyTests {
    private struct Outcome {
        var sent: [Sent] = []
        var status = StationStatus()
        var allFinite = true
    }

    private func play(_ configuration: Configuration, _ blocks: [SampleBlock], rate: Double) throws -> Outcome {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: rate, range: 19.6133, resolution: 1e-4),
            boot: "boot")
        var outcome = Outcome()
        pipeline.onSeries = { chunk in
            for plane in [chunk.raw, chunk.offsetRemoved, chunk.filtered, chunk.rms] {
                for axis in 0..<3 {
                    for i in 0..<chunk.count where !plane[axis * chunk.stride + i].isFinite {
                        outcome.allFinite = false
                    }
                }
            }
        }
        let sink: PublicationSink = { header, bytes in
            outcome.sent.append(
                Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        for block in blocks { pipeline.process(block, quality: .replay, to: sink) }
        pipeline.finish(to: sink)
        outcome.status = pipeline.status
        return outcome
    }

    /// A snapshot that the settings take, and the choices that are left.
    private func scenario(_ seed: UInt64) throws -> (Configuration, Double, Choices) {
        for attempt in 0..<50 as Range<UInt64> {
            var choices = Choices(seed: seed &* 1_000_003 &+ attempt)
            let rate = choices.rate()
            guard let configuration = Choices.valid(choices.configuration(rate: rate)) else { continue }
            // What only the filters' design refuses, such as a corner that is almost 0, is not for here.
            if (try? play(configuration, [], rate: rate)) != nil { return (configuration, rate, choices) }
        }
        throw CancellationError()
    }

    @Test(arguments: 0..<30 as Range<UInt64>) func holdForAnySettingsAndSamples(seed: UInt64) throws {
        var (configuration, rate, choices) = try scenario(seed)
        let stretches = choices.stretches(rate: rate, count: 2000)
        let whole = try play(configuration, stretches.blocks(of: 4096, rate: rate), rate: rate)
        #expect(whole.allFinite)
        let expected = stretches.expected
        #expect(whole.status.samples == expected.usable)
        #expect(whole.status.invalidSamples == expected.invalid)
        #expect(whole.status.gaps == expected.gaps)
        for message in whole.sent where message.name.hasPrefix("event/") || message.name == "state/summary" {
            let text = String(decoding: message.bytes, as: UTF8.self)
            // What is no number is written as null, and so is an on-site estimate that there is not.
            let rest = ["onsite", "pv", "pd", "tau_c", "level"].reduce(text) {
                $0.replacingOccurrences(of: "\"\($1)\":null", with: "")
            }
            #expect(!rest.contains("null"), "\(text)")
            // Emptied when the event is over.
            #expect(!message.json.isEmpty || message.name == "event/current" && message.bytes.isEmpty)
        }
        let size = [1, 7, 100][Int(seed % 3)]
        let cut = try play(configuration, stretches.blocks(of: size, rate: rate), rate: rate)
        #expect(cut.sent == whole.sent, "blocks of \(size)")
        #expect(cut.status == whole.status)
    }

    /// Found by this generator: the difference of two times, and a time after the last, do not fit into 64 bits.
    @Test func timesThatNoClockCanReckonWithAreNoCrash() throws {
        let samples = [SIMD3<Double>](repeating: .zero, count: 300)
        let times: [Int64] = [.max, .min, 0, .max - 1_000, .min + 1_000, 1_767_608_430_120_000_000]
        let stretches = times.map { Stretch(time: $0, samples: samples) }
        let outcome = try play(testConfiguration(), stretches.blocks(of: 16, rate: 100), rate: 100)
        #expect(outcome.status.samples == 1800 && outcome.status.gaps == 5)
    }

    @Test func anAverageThatNeverSettlesIsNoCrash() throws {
        var configuration = testConfiguration { $0.conditioning.offset = .ema(.alpha(.leastNonzeroMagnitude)) }
        configuration.conditioning.settle = nil
        let samples = [Stretch(time: 0, samples: [SIMD3<Double>](repeating: .zero, count: 300))]
        let outcome = try play(configuration, samples.blocks(of: 16, rate: 100), rate: 100)
        let summaries = outcome.sent.filter { $0.name == "state/summary" }.map(\.json)
        #expect(summaries.count == 3 && summaries.allSatisfy { $0["valid"] as? Bool == false })
    }
}
