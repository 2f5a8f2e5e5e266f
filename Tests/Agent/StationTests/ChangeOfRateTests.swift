import Foundation
import Messages
import Settings
import SignalProcessing
import Testing
import Values

@testable import Station

/// The sensor's true rate is found out while the pipeline runs.
@Suite struct ChangeOfRateTests {
    private static let configuration = testConfiguration {
        $0.intensity.scales = [.worden12]
        $0.spectrum.window = 2
        $0.conditioning.settle = 3
    }

    /// Runs a recording of one true rate through a pipeline made for 100 Hz that is told the true rate after so many
    /// samples; nil: never.
    private func run(_ recording: Recording, changeAt: Int?, _ configuration: Configuration = configuration) throws -> (
        sent: [Sent], status: StationStatus, threw: Bool
    ) {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: 100), boot: "boot")
        var sent: [Sent] = []
        var threw = false
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        var passed = 0
        for block in recording.blocks(of: 16) {
            if let changeAt, passed == changeAt {
                do { try pipeline.change(sensor: StationSensor(rate: recording.rate), to: sink) } catch { threw = true }
            }
            pipeline.process(block, quality: .replay, to: sink)
            passed += block.count
        }
        pipeline.finish(to: sink)
        return (sent, pipeline.status, threw)
    }

    private func messages(_ sent: [Sent], _ name: String) -> [[String: Any]] {
        sent.filter { $0.name == name }.map(\.json)
    }

    @Test func numbersCountersAndExtremesGoOnAndNoGapIsCounted() throws {
        var recording = burst(rate: 96.2)
        recording.x[300] += 40
        let (sent, status, _) = try run(recording, changeAt: 1600)
        #expect(status.samples == recording.x.count && status.gaps == 0 && status.lostSamples == 0)
        for stream in ["state/summary", "data/trace"] {
            let numbers = messages(sent, stream).compactMap { $0["seq"] as? Int }
            #expect(numbers == Array(0..<numbers.count) && numbers.count > 40)
        }
        let last = try #require(messages(sent, "state/summary").last?["extremes"] as? [String: Any])
        let x = try #require(last["x"] as? [String: Any])
        #expect(x["max"] as? Double ?? 0 > 39)
        let rates = messages(sent, "data/trace").compactMap { $0["rate_hz"] as? Double }
        #expect(rates.first == 20 && abs((rates.last ?? 0) - 19.24) < 1e-9)
        #expect(messages(sent, "data/trace").filter { $0["gap"] as? Bool == true }.count == 1)
        #expect(messages(sent, "data/trace").compactMap { $0["n"] as? Int }.reduce(0, +) >= recording.x.count / 5)
        let invalid = messages(sent, "state/summary").filter { $0["reason"] as? String == "settling" }
        // The jump of 40 m/s² is a velocity of 0.4 m/s, which the filters have to forget before the level is certain.
        #expect((6...20).contains(invalid.count))
    }

    @Test func traceTimesLieOnTheTruth() throws {
        let recording = burst(rate: 96.2)
        let (sent, _, _) = try run(recording, changeAt: 1600)
        let traces = messages(sent, "data/trace").filter { ($0["rate_hz"] as? Double ?? 0) < 19.5 }
        var end: Double?
        for trace in traces {
            let start = try #require(Timestamp(trace["t"] as? String ?? "")).nanoseconds
            let seconds = Double(start - recording.start) / 1e9
            if let end { #expect(abs(seconds - end) < 1e-6) }
            end = seconds + Double(trace["n"] as? Int ?? 0) / 19.24
        }
        #expect(traces.count > 30)
    }

    /// 0.4 % off, the filters stay; the time of a trace, which began more than a second before the last block, must not
    /// be counted back by the wrong rate: that were half a sample.
    @Test(arguments: [true, false]) func traceTimesAreCountedByTheTrueRate(_ isTold: Bool) throws {
        let recording = burst(rate: 99.6)
        var pipeline = try StationPipeline(
            configuration: Self.configuration, sensor: StationSensor(rate: 100), boot: "boot")
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        for (n, block) in recording.blocks(of: 16).enumerated() {
            if n == 5, isTold { pipeline.follow(trueRate: 99.6) }
            pipeline.process(block, quality: .replay, to: sink)
        }
        pipeline.finish(to: sink)
        var worst = 0.0
        var before = 0
        for trace in messages(sent, "data/trace") {
            let start = try #require(Timestamp(trace["t"] as? String ?? "")).nanoseconds
            let samples = Double(start - recording.start) / 1e9 * 99.6
            worst = max(worst, abs(samples - Double(5 * before)))
            before += trace["n"] as? Int ?? 0
        }
        #expect(isTold ? worst < 0.1 : worst > 0.3, "\(worst)")
    }

    /// A sine at the corner of a filter is passed by its true frequency only once the rate is known.
    @Test func filtersAreThoseOfTheTrueRate() throws {
        func level(_ changeAt: Int?) throws -> Double {
            let configuration = testConfiguration {
                $0.intensity.scales = [.worden12]
                $0.spectrum.window = 2
                $0.axes.x.filter = .butterworth(.init(band: .lowpass, corners: [10], order: 8, start: .zero))
                $0.trace.signals = [.filtered]
                $0.trace.rate = 100
            }
            var recording = burst(seconds: 60, from: 59, to: 60, rate: 90)
            for i in recording.x.indices { recording.x[i] = sin(2 * .pi * 10 * Double(i) / 90) }
            let (sent, _, _) = try run(recording, changeAt: changeAt, configuration)
            let traces = messages(sent, "data/trace").suffix(10)
            let values = traces.flatMap { ($0["x"] as? [String: Any])?["filtered"] as? [Double] ?? [] }
            return (values.map { $0 * $0 }.reduce(0, +) / Double(values.count)).squareRoot()
        }
        // Made for 100 Hz, the corner is at 9 Hz; made for 90 Hz, it is at 10 Hz, where half the power passes.
        #expect(abs(try level(1600) - 0.5) < 0.02)
        #expect(try level(nil) < 0.35)
    }

    @Test func anOpenEventIsClosedAndItsWaveformIsWhole() throws {
        let recording = burst(from: 20, to: 30, rate: 96.2)
        let (sent, _, _) = try run(recording, changeAt: 2304)
        let ends = messages(sent, "event/last")
        let end = try #require(ends.first)
        #expect(end["waveform"] != nil)
        let before = sent.prefix { $0.name != "event/last" }
        #expect(before.contains { $0.name == "event/trigger" })
        #expect(messages(sent, "event/trigger").compactMap { $0["seq"] as? Int }.count >= 2)
    }

    @Test func aRateThatTheFiltersCannotHaveChangesNothing() throws {
        let recording = burst(rate: 12)
        let (sent, _, threw) = try run(recording, changeAt: 160)
        let plain = try run(recording, changeAt: nil)
        #expect(threw && sent == plain.sent)
    }
}
