import Foundation
import Messages
import Settings
import SignalProcessing
import Testing
import Values

@testable import Station

/// A run during which the settings change once, between two blocks.
private struct Run {
    var sent: [Sent] = []
    /// x, y, z one after the other.
    var filtered: [[Double]] = [[], [], []]
    var rms: [[Double]] = [[], [], []]
    var ratio: [Double] = []
    var status = StationStatus()
    var failed = false

    init(
        _ recording: Recording, _ configuration: Configuration, size: Int = 50, changeAt: Int = 0,
        _ change: ((inout Configuration) -> Void)? = nil
    ) throws {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: recording.rate), boot: "boot")
        var (filtered, rms, ratio) = (filtered, rms, ratio)
        let column = pipeline.ratioColumns.first
        pipeline.onSeries = { chunk in
            for axis in 0..<3 {
                for i in 0..<chunk.count {
                    filtered[axis].append(chunk.filtered[axis * chunk.stride + i])
                    rms[axis].append(chunk.rms[axis * chunk.stride + i])
                }
            }
            for i in 0..<chunk.count { ratio.append(column.map { chunk.ratio($0)[i] } ?? -1) }
        }
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        var passed = 0
        for block in recording.blocks(of: size) {
            if passed == changeAt, let change {
                var changed = configuration
                change(&changed)
                do { try pipeline.reconfigure(changed, revision: 0, to: sink) } catch { failed = true }
            }
            pipeline.process(block, quality: .replay, to: sink)
            passed += block.count
        }
        pipeline.finish(to: sink)
        pipeline.onSeries = nil
        (self.sent, self.filtered, self.rms, self.ratio, status) = (sent, filtered, rms, ratio, pipeline.status)
    }

    /// Number of the first message that is not the same.
    func firstDifference(from other: Run) -> Int? {
        if let i = zip(sent, other.sent).enumerated().first(where: { $1.0 != $1.1 })?.offset { return i }
        return sent.count == other.sent.count ? nil : min(sent.count, other.sent.count)
    }

    func messages(_ name: String) -> [[String: Any]] { sent.filter { $0.name == name }.map(\.json) }
}

/// Without what is slow in a debug build; the one test of unchanged settings has it.
private func plainConfiguration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
    testConfiguration {
        $0.intensity.scales = [.worden12]
        $0.spectrum.window = 2
        change(&$0)
    }
}

@Suite struct ReconfigureTests {
    private static let at = 2300  // in the middle of the burst from 2000 to 2500

    @Test func theSameSettingsChangeNothing() throws {
        let recording = burst(seconds: 45, to: 22)
        let plain = try Run(recording, testConfiguration())
        for at in [0, 50, 2000, 2300, 4450] {
            let changed = try Run(recording, testConfiguration(), changeAt: at) { _ in }
            #expect(changed.firstDifference(from: plain) == nil, "at \(at)")
        }
    }

    @Test func aThresholdLeavesAllSignalsAndTheOtherAxesAsTheyAre() throws {
        let plain = try Run(burst(), plainConfiguration())
        let changed = try Run(burst(), plainConfiguration(), changeAt: Self.at) { $0.axes.x.detection.threshold = 100 }
        let isSame = changed.filtered == plain.filtered && changed.rms == plain.rms && changed.ratio == plain.ratio
        #expect(isSame)
        func triggered(_ run: Run, _ axis: String) -> [Int] {
            run.messages("data/trace").flatMap { ($0[axis] as? [String: Any])?["triggered"] as? [Int] ?? [] }
        }
        #expect(triggered(changed, "y") == triggered(plain, "y") && triggered(plain, "y").contains(1))
        #expect(triggered(plain, "x")[470] == 1 && triggered(changed, "x")[470] == 0)
        #expect(changed.status == plain.status)
    }

    @Test func aFilterOfOneAxisLeavesTheOthersBitForBit() throws {
        let plain = try Run(burst(), plainConfiguration())
        let changed = try Run(burst(), plainConfiguration(), changeAt: Self.at) {
            $0.axes.x.filter = .butterworth(.init(band: .lowpass, corners: [10], order: 5, start: .steady))
        }
        #expect(changed.filtered[1] == plain.filtered[1] && changed.filtered[2] == plain.filtered[2])
        #expect(changed.rms[1] == plain.rms[1] && changed.rms[2] == plain.rms[2])
        #expect(changed.filtered[0][..<Self.at] == plain.filtered[0][..<Self.at])
        #expect(changed.filtered[0][Self.at...] != plain.filtered[0][Self.at...])
        // The window of x begins anew: its first RMS is the sample itself.
        #expect(changed.rms[0][Self.at] == abs(changed.filtered[0][Self.at]))
        #expect(changed.ratio == plain.ratio && changed.status == plain.status)
    }

    @Test func aNewFilterDoesNotTriggerWhileItSettles() throws {
        let configuration = plainConfiguration {
            $0.conditioning.offset = .none
            $0.detection.staLTA.enabled = false
            $0.axes.z.filter = .butterworth(.init(band: .highpass, corners: [0.5], order: 2, start: .steady))
        }
        // What is left of gravity is a step of 0.5 m/s² for a filter that starts from zero.
        var recording = burst(from: 100)
        for i in recording.z.indices { recording.z[i] -= 9.3 }
        let run = try Run(recording, configuration, changeAt: 3000) {
            $0.axes.z.filter = .butterworth(.init(band: .highpass, corners: [0.4], order: 2, start: .zero))
        }
        #expect(run.rms[2][3050] > 0.1)
        #expect(run.messages("event/trigger").count == 0)
        // (The velocity is certain some seconds after the start.)
        #expect(run.messages("state/summary").dropFirst(14).allSatisfy { $0["valid"] as? Bool == true })
    }

    @Test func theRatioGoesOnWithOtherLevelsAndBeginsAnewWithOtherLengths() throws {
        let long = burst(seconds: 100, from: 80, to: 85)
        let plain = try Run(long, plainConfiguration { $0.detection.level.enabled = false })
        let levels = try Run(long, plainConfiguration { $0.detection.level.enabled = false }, changeAt: 4000) {
            $0.detection.staLTA.on = 4
        }
        #expect(levels.ratio[..<8000] == plain.ratio[..<8000] && plain.ratio[7900] > 0)
        // Nor does the guard of the trigger forget what it knows of the noise.
        let other = try Run(long, plainConfiguration { $0.detection.level.enabled = false }, changeAt: 7950) {
            $0.detection.peak.threshold = 3
        }
        #expect(other.firstDifference(from: plain) == nil && plain.messages("event/last").count == 1)
        let lengths = try Run(long, plainConfiguration { $0.detection.level.enabled = false }, changeAt: 4000) {
            $0.detection.staLTA.lta = 20
        }
        #expect(lengths.ratio[..<4000] == plain.ratio[..<4000])
        #expect(lengths.ratio[4000..<5999].allSatisfy { $0 == 0 } && lengths.ratio[6100] > 0)
        let off = try Run(long, plainConfiguration { $0.detection.level.enabled = false }, changeAt: 8200) {
            $0.detection.staLTA.enabled = false
            $0.detection.level.enabled = true
            $0.detection.level.axes = .z
        }
        // The open event ends after its time and no detector that is off opens another.
        #expect(off.messages("event/last").count == 1)
    }

    @Test func anOpenEventGoesOnToItsEndWithItsWholeWaveform() throws {
        let plain = try Run(burst(), plainConfiguration())
        let changed = try Run(burst(), plainConfiguration(), changeAt: Self.at) {
            $0.detection.event.preEvent = 3
            $0.waveform.chunk = 4
            $0.waveform.encoding = .mseed3
            $0.axes.y.detection.threshold = 1
            $0.trace.rate = 10
        }
        let (one, other) = (try #require(plain.messages("event/last").first), changed.messages("event/last"))
        #expect(other.count == 1)
        for key in ["event_id", "pga", "cav", "onset", "end", "duration_s"] {
            #expect(one[key] as? NSObject == other.first?[key] as? NSObject, "\(key)")
        }
        #expect(one["waveform"] as? NSDictionary == other.first?["waveform"] as? NSDictionary)
    }

    @Test func theNextEventHasTheNewContext() throws {
        let recording = burst(seconds: 60, from: 30, to: 35)
        for before in [2.0, 20.0] {
            let run = try Run(recording, plainConfiguration { $0.waveform.encoding = .mseed3 }, changeAt: 1500) {
                $0.detection.event.preEvent = before
            }
            let event = try #require(run.messages("event/last").first)
            let waveform = try #require(run.sent.first { $0.name.hasPrefix("data/waveform/") })
            // The start of a miniSEED 3 record: nanoseconds, year, day, hour, minute, second at bytes 4 to 14.
            let second = Int(waveform.bytes[14])
            let minute = Int(waveform.bytes[13])
            let onset = try #require(Timestamp(event["onset"] as? String ?? "")).nanoseconds
            let start = try #require(Timestamp("2026-01-05T10:\(minute):\(second < 10 ? "0" : "")\(second)Z"))
            #expect(abs(Double(onset - start.nanoseconds) / 1e9 - before) < 1.01, "\(before)")
        }
    }

    @Test func anotherOffsetRemovalIsANewStartWithoutAGap() throws {
        let configuration = plainConfiguration { $0.conditioning.settle = 2 }
        for offset in [OffsetSpecification.meanFirst(seconds: 1), .ema(.alpha(0.01)), .highpass(corner: 0.2, order: 1)]
        {
            let run = try Run(burst(from: 100), configuration, changeAt: 3000) { $0.conditioning.offset = offset }
            #expect(run.status.samples == 6000 && run.status.gaps == 0 && run.status.lostSamples == 0)
            let invalid = run.messages("state/summary").filter { $0["reason"] as? String == "settling" }
            // Two at the start and two at the change, and until the velocity is certain.
            #expect((4...26).contains(invalid.count), "\(invalid.count)")
            #expect(run.messages("data/trace").filter { $0["gap"] as? Bool == true }.count == 1)
            #expect(run.messages("data/trace").compactMap { $0["n"] as? Int }.reduce(0, +) == 1200)
            #expect(run.messages("event/trigger").count == 0)
        }
    }

    @Test func tracesOfAnotherRateBeginWhereTheOldOnesEnd() throws {
        let run = try Run(burst(), plainConfiguration(), changeAt: 2310 - 10) { $0.trace.rate = 50 }
        var end: Double?
        for trace in run.messages("data/trace") {
            let time = Double(try #require(Timestamp(trace["t"] as? String ?? "")).nanoseconds - burst().start) / 1e9
            if let end { #expect(abs(time - end) < 0.051, "\(time) after \(end)") }
            end = time + Double(trace["n"] as? Int ?? 0) / (trace["rate_hz"] as? Double ?? 1)
        }
        #expect(abs((end ?? 0) - 60) < 0.05)
        #expect(run.messages("data/trace").filter { $0["gap"] as? Bool == true }.count == 1)
    }

    @Test func settingsThatCannotBeMadeChangeNothing() throws {
        let plain = try Run(burst(), plainConfiguration())
        let failed = try Run(burst(), plainConfiguration(), changeAt: Self.at) {
            $0.axes.y.filter = .butterworth(.init(band: .lowpass, corners: [70], order: 2))
            $0.trace.rate = 10
        }
        #expect(failed.failed && failed.firstDifference(from: plain) == nil)
    }

    @Test func sequenceNumbersGoOn() throws {
        let run = try Run(burst(), plainConfiguration(), changeAt: Self.at) { $0.trace.qos = 0 }
        let numbers = run.messages("data/trace").compactMap { $0["seq"] as? Int }
        #expect(numbers == Array(0..<numbers.count))
        #expect(run.sent.last { $0.name == "data/trace" }?.qos == 0)
    }
}
