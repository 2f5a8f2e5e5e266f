import Foundation
import Messages
import Seismology
import Settings
import SignalProcessing
import Testing
import Values

@testable import Station

@Suite struct PipelineTests {
    /// The promise that replay and live rest on.
    @Test(arguments: [100.0, 31.25, 60.0]) func anyBlockSizeGivesTheSameBytes(rate: Double) throws {
        let recording = burst(seconds: 70, rate: rate)
        for offset in [OffsetSpecification.meanFirst(seconds: 2), .highpass(corner: 0.1, order: 2)] {
            let configuration = testConfiguration {
                $0.conditioning.offset = offset
                $0.intensity.scales = [.worden12, .jma]
                $0.mqtt.openEEW.enabled = true
            }
            let gaps = [1000: 37, 1500: 4000, 1510: 1]
            let whole = try play(recording.blocks(of: 1000, gaps: gaps), configuration, rate: rate)
            #expect(whole.sent.contains { $0.name == "event/last" })
            for size in [1, 7, 16, 100] {
                let cut = try play(recording.blocks(of: size, gaps: gaps), configuration, rate: rate)
                #expect(cut.sent == whole.sent, "blocks of \(size) at \(rate) Hz")
                #expect(cut.status == whole.status)
            }
        }
    }

    /// Above 250 Hz the work of a second has pauses between its parts; the samples it is about must still be there then.
    @Test func anyBlockSizeGivesTheSameBytesAtAHighRate() throws {
        let recording = burst(seconds: 30, rate: 1000)
        let configuration = testConfiguration {
            $0.intensity.scales = [.jma]
            ($0.intensity.jmaWindow, $0.spectrum.window) = (3, 3)
        }
        let whole = try play(recording.blocks(of: 5000), configuration, rate: 1000)
        #expect(whole.sent.contains { $0.name == "event/last" })
        for size in [1, 7, 160] {
            let cut = try play(recording.blocks(of: size), configuration, rate: 1000)
            #expect(cut.sent == whole.sent, "blocks of \(size)")
        }
    }

    @Test func anEventIsToldFromOnsetToEnd() throws {
        let (sent, _) = try play(burst().blocks(of: 16), testConfiguration())
        let events = sent.filter { $0.name == "event/trigger" }.map(\.json)
        #expect(events.first?["event_type"] as? String == "onset")
        #expect(events.last?["event_type"] as? String == "end")
        #expect(Set(events.compactMap { $0["event_id"] as? String }).count == 1)
        #expect(events.dropFirst().dropLast().allSatisfy { $0["event_type"] as? String == "update" })
        let end = try #require(events.last)
        let peaks = try #require(end["peaks"] as? [String: [String: Any]])
        // The high pass that removes gravity overshoots a little where the burst begins.
        #expect(abs((peaks["x"]?["value"] as? Double ?? 0) - 1) < 0.05)
        // RMS over 1 s falls below 5 mg a good second after the burst, and the event ends 15 s later.
        let duration = try #require(end["duration_s"] as? Double)
        #expect(duration > 19 && duration < 22)
        let last = try #require(sent.first { $0.name == "event/last" })
        #expect(last.retain && last.qos == 1)
        #expect(last.json["event_id"] as? String == end["event_id"] as? String)
    }

    @Test func theOnsetLeavesWithTheBlockThatFulfilsTheRule() throws {
        let configuration = testConfiguration()
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: 100), boot: "boot")
        var onsetBlock: Int?
        var onsetTime = ""
        for (i, block) in burst().blocks(of: 16).enumerated() {
            pipeline.process(block, quality: .replay) { header, bytes in
                guard header.topic.hasSuffix("event/trigger"), onsetBlock == nil else { return }
                onsetBlock = i
                onsetTime =
                    (Sent(topic: header.topic, qos: 1, retain: false, bytes: Array(bytes)).json["onset"] as? String)
                    ?? ""
            }
        }
        // A window of 1 s and a hold of 0.2 s: at 1 m/s² the level is passed with the first samples of the burst.
        let block = try #require(onsetBlock)
        let onset = try #require(Timestamp(onsetTime)).nanoseconds
        let sample = Int((Double(onset - burst().start) / 1e7).rounded())
        #expect(sample / 16 == block)
        #expect((2019...2025).contains(sample))
    }

    @Test func nothingIsDetectedWhileSettling() throws {
        let recording = burst(seconds: 40, from: 0.5, to: 3)
        let (sent, _) = try play(recording.blocks(of: 16), testConfiguration { $0.conditioning.settle = 10 })
        #expect(!sent.contains { $0.name == "event/trigger" })
        let summaries = sent.filter { $0.name == "state/summary" }.map(\.json)
        #expect(summaries[8]["valid"] as? Bool == false && summaries[8]["reason"] as? String == "settling")
        // It began in motion: the velocity is certain later than the filters have settled.
        #expect(summaries.last?["valid"] as? Bool == true)
    }

    @Test func theDefaultSettlesAsLongAsItsSlowestFilterNeeds() throws {
        let configuration = testConfiguration { $0.conditioning.settle = nil }
        let (sent, _) = try play(burst(seconds: 20, from: 30).blocks(of: 100), configuration)
        let valid = sent.filter { $0.name == "state/summary" }.map { $0.json["valid"] as? Bool ?? false }
        // Three time constants of a second-order high pass at 0.1 Hz: 3 √2 / (2π 0.1 Hz) = 6.75 s.
        // The velocity of this noise is certain some seconds later.
        #expect(valid.prefix(6).allSatisfy { !$0 } && valid.dropFirst(13).allSatisfy { $0 }, "\(valid)")
    }

    @Test func aGapIsCountedDeclaredAndResetsTheFilters() throws {
        let (sent, status) = try play(
            burst(from: 100).blocks(of: 16, gaps: [2000: 500]), testConfiguration { $0.conditioning.settle = 2 })
        #expect(status.gaps == 1 && status.lostSamples == 500 && status.samples == 6000)
        let traces = sent.filter { $0.name == "data/trace" }.map(\.json)
        #expect(traces.filter { $0["gap"] as? Bool == true }.count == 1)
        let total = traces.compactMap { $0["n"] as? Int }.reduce(0, +)
        #expect(total == 400 + 800)
        let invalid = sent.filter { $0.name == "state/summary" }.map(\.json).filter { $0["reason"] as? String == "gap" }
        #expect(invalid.count == 2)
    }

    /// The windows of the JMA intensity and of the spectrum begin anew after a gap.
    @Test func whatNeedsAWindowIsAbsentUntilThereAreThreeSeconds() throws {
        let (sent, _) = try play(
            burst(seconds: 30, from: 0, to: 30).blocks(of: 16, gaps: [1250: 500]),
            testConfiguration { $0.intensity.scales = [.worden12, .jma] })
        let present = sent.filter { $0.name == "state/summary" }.map(\.json).map { summary in
            let scales = (summary["intensity"] as? [[String: Any]])?.compactMap { $0["scale"] as? String }
            #expect((scales == ["mmi", "jma"]) == (summary["spectrum"] != nil))
            return summary["spectrum"] != nil
        }
        #expect(present == (1...12).map { $0 >= 3 } + (1...17).map { $0 >= 3 })
        let spectrum = try #require(sent.last { $0.name == "state/summary" }?.json["spectrum"] as? [String: Double])
        #expect(abs((spectrum["dominant_hz"] ?? 0) - 5) < 0.01 && abs((spectrum["peak"] ?? 0) - 1) < 0.02)
    }

    /// An end that is being made ready waits neither for nor with the next onset.
    @Test func anEventThatFollowsAtOnceHasItsOwnNumbers() throws {
        let configuration = testConfiguration {
            $0.detection.event.maximum = 5
            $0.detection.event.deadTime = 0
        }
        let (sent, _) = try play(burst(seconds: 40, from: 10, to: 30).blocks(of: 16), configuration)
        let ends = sent.filter { $0.name == "event/last" }.map(\.json)
        #expect(ends.count >= 4)
        for end in ends.dropLast() { #expect(abs((end["dominant_hz"] as? Double ?? 0) - 5) < 0.05) }
        let ids = sent.filter { $0.name == "event/trigger" }.map(\.json)
        for end in ends {
            let kinds = ids.filter { $0["event_id"] as? String == end["event_id"] as? String }
            #expect(kinds.first?["event_type"] as? String == "onset" && kinds.last?["event_type"] as? String == "end")
        }
    }

    @Test func notANumberNeverGoesFurtherAndIsDeclaredAsAGap() throws {
        var recording = burst(from: 100)
        recording.y[3000] = .nan
        recording.z[3001] = .infinity
        recording.x[4500] = -1e300
        let configuration = testConfiguration()
        let whole = try play(recording.blocks(of: 1000), configuration)
        #expect(whole.status.invalidSamples == 3 && whole.status.gaps == 2 && whole.status.samples == 5997)
        for message in whole.sent where message.name != "data/waveform" {
            #expect(!String(decoding: message.bytes, as: UTF8.self).contains("null"))
        }
        for size in [1, 16] { #expect(try play(recording.blocks(of: size), configuration).sent == whole.sent) }
    }

    @Test func clippedSamplesAreCountedAndMarkTheEvent() throws {
        let (sent, status) = try play(
            burst(amplitude: 25).blocks(of: 16), testConfiguration(), range: 2 * standardGravity)
        #expect(status.clippedSamples > 0)
        let event = try #require(sent.first { $0.name == "event/last" }).json
        #expect(event["clipped"] as? Bool == true)
    }

    @Test func eventsBelowTheAskedIntensityAreNotTold() throws {
        let strong = testConfiguration { $0.detection.event.minimumIntensity = 9.5 }
        let (sent, _) = try play(burst().blocks(of: 16), strong)
        #expect(!sent.contains { $0.name.hasPrefix("event/") || $0.name.hasPrefix("data/waveform") })
        let weak = testConfiguration { $0.detection.event.minimumIntensity = 3 }
        let told = try play(burst().blocks(of: 16), weak).sent.filter { $0.name == "event/trigger" }
        #expect(told.first?.json["event_type"] as? String == "onset")
        #expect(told.last?.json["event_type"] as? String == "end")
    }

    @Test func theAxesRuleDecidesWhichAxesCount() throws {
        func events(_ axes: DetectionConfiguration.Level.Axes) throws -> Int {
            let configuration = testConfiguration { $0.detection.level.axes = axes }
            return try play(burst().blocks(of: 16), configuration).sent.filter { $0.name == "event/last" }.count
        }
        #expect(try events(.x) == 1 && events(.two) == 1 && events(.any) == 1)
        #expect(try events(.z) == 0 && events(.all) == 0)
    }

    /// The burst goes along x − y/2 with the amplitude √1.25: bearing 116.57° or back, mean |sin| 2/π.
    @Test func measuresOfAStraightMotion() throws {
        let (sent, _) = try play(
            burst(from: 20, to: 30).blocks(of: 16), testConfiguration { $0.intensity.window = 5 })
        func check(_ json: [String: Any], azimuth: ClosedRange<Double>) throws {
            let direction = try #require(json["direction"] as? [String: Any])
            let bearing = try #require(direction["azimuth_deg"] as? Double)
            #expect(azimuth.contains(bearing.truncatingRemainder(dividingBy: 180)))
            #expect((88...92).contains(try #require(direction["incidence_deg"] as? Double)))
            #expect(try #require(direction["rectilinearity"] as? Double) > 0.999)
            // The direction is one of the line's two: that of the largest acceleration.
            #expect((direction["axis"] as? String == "+x") == (bearing < 180))
        }
        let summary = try #require(sent.filter { $0.name == "state/summary" }.dropFirst(28).first).json
        try check(summary, azimuth: 116.5...116.7)
        let levels = try #require(summary["h"] as? [String: Double])
        #expect(abs((levels["rsam"] ?? 0) - 1.25.squareRoot() * 2 / .pi) < 5e-3)
        let end = try #require(sent.first { $0.name == "event/last" }).json
        try check(end, azimuth: 116...117)
        // 5 Hz, 1 m/s²: 1/(2π 5 Hz)² after the high passes' start.
        #expect((9e-4...2e-2).contains(try #require(end["pgd"] as? Double)))
        // 5 to 95 % of ten seconds of the same strength.
        #expect(abs(try #require(end["d5_95_s"] as? Double) - 9) < 0.1)
        #expect(abs(try #require(end["d5_75_s"] as? Double) - 7) < 0.1)
        let cav = try #require(end["cav_std"] as? Double)
        #expect(abs(cav - 20 / Double.pi) < 0.1)
        #expect(end["gaps"] == nil)
    }

    /// Slow motion loses to the two high passes of 0.075 Hz what they take, and nothing to the removal of the offset.
    @Test func peakVelocitiesAreThoseOfTwoHighPasses() throws {
        let (rate, hz) = (50.0, 0.15)
        var (x, y, z): ([Double], [Double], [Double]) = ([], [], [])
        for i in 0..<6000 {
            let phase = 2 * .pi * hz * Double(i) / rate
            x.append(0.3 + sin(phase))
            y.append(2 * cos(phase))
            z.append(9.80665 + 0.5 * sin(phase))
        }
        let recording = Recording(rate: rate, x: x, y: y, z: z)
        let configuration = testConfiguration { $0.intensity.scales = [.worden12, .cwa] }
        let (sent, _) = try play(recording.blocks(of: 100), configuration, rate: rate)
        let summary = try #require(sent.last { $0.name == "state/summary" }).json
        let ratio = tan(.pi * 0.075 / rate) / tan(.pi * hz / rate)
        let velocity = 0.5 / rate / tan(.pi * hz / rate) / (1 + pow(ratio, 4))
        func peak(_ name: String) throws -> Double {
            try #require((summary[name] as? [String: Any])?["velocity"] as? Double)
        }
        for (name, size) in [("x", 1), ("y", 2), ("z", 0.5), ("h", 2), ("v3", 2)] as [(String, Double)] {
            #expect(abs(try peak(name) / (size * velocity) - 1) < 2e-3, "\(name)")
        }
        #expect(try summary["pgv"] as? Double == peak("y"))
        // 2 m/s² and 1.6 m/s on the vectors.
        let values = try #require(summary["intensity"] as? [[String: Any]])
        #expect(values.last?["relation"] as? String == "cwa" && values.last?["grade"] as? String == "7")
        let event = try #require(sent.last { $0.name == "event/trigger" }?.json)
        #expect(try #require((event["peak_velocity"] as? [String: Double])?["v3"]) > 1.9 * velocity)
    }

    /// The onset says when the wave arrived, about half a second before it; later messages as well.
    @Test func eventsSayWhenTheWaveArrived() throws {
        let sent = try play(burst().blocks(of: 16), testConfiguration()).sent.filter { $0.name == "event/trigger" }
        #expect(sent.count >= 2)
        for message in sent {
            // Of the burst at 20 s.
            let time = try #require(message.json["p_time"] as? String)
            #expect(time.hasPrefix("2026-01-05T10:20:50.1"), "\(time)")
            #expect(try #require(message.json["p_sigma_s"] as? Double) < 0.1)
        }
    }

    @Test func anEventWithAGapSaysSo() throws {
        let (sent, _) = try play(burst().blocks(of: 16, gaps: [2300: 20]), testConfiguration())
        let end = try #require(sent.first { $0.name == "event/last" }).json
        #expect(end["gaps"] as? Int == 1)
        #expect(sent.first { $0.name == "event/trigger" }?.json["gaps"] == nil)
    }

    @Test func extremesBeginAnewWhenAsked() throws {
        let recording = burst(seconds: 10, from: 2, to: 3)
        var pipeline = try StationPipeline(
            configuration: testConfiguration(), sensor: StationSensor(rate: 100), boot: "boot")
        var summaries: [[String: Any]] = []
        for (i, block) in recording.blocks(of: 50).enumerated() {
            if i == 11 { pipeline.resetExtremes() }
            pipeline.process(block, quality: .replay) { header, bytes in
                let sent = Sent(topic: header.topic, qos: 0, retain: true, bytes: Array(bytes))
                if sent.name == "state/summary" { summaries.append(sent.json) }
            }
        }
        func extreme(_ second: Int) throws -> [String: Any] {
            let all = try #require(summaries[second]["extremes"] as? [String: [String: Any]])
            return try #require(all["x"])
        }
        #expect(try #require(try extreme(4)["max"] as? Double) > 0.9)
        let anew = try extreme(5)
        #expect(try #require(anew["max"] as? Double) < 1e-3)
        let since = try #require(Timestamp(anew["since"] as? String ?? "")).nanoseconds
        #expect(since == recording.start + 5_500_000_000)
    }

    @Test func eachAxisHasItsOwnSettings() throws {
        let configuration = testConfiguration {
            $0.axes.x.detection.threshold = 100
            $0.axes.y.filter = .none
            $0.axes.z.signal = .step(amplitude: 2)
        }
        let (sent, _) = try play(burst().blocks(of: 16), configuration)
        let event = try #require(sent.first { $0.name == "event/trigger" }).json
        let detectors = try #require(event["detectors"] as? [[String: Any]])
        #expect(detectors.first?["axes"] as? [String] == ["z"])
    }

    /// A weak burst, far below the level, and what each detector says of it (the peak: of each sample alone).
    @Test func eachDetectorThatIsOnIsInTheEventWithItsValues() throws {
        let configuration = testConfiguration {
            $0.detection.staLTA.minimumDuration = 0.1
            ($0.detection.peak.enabled, $0.detection.peak.threshold) = (true, 0.012)
            ($0.detection.movement.enabled, $0.detection.movement.threshold) = (true, 0.015)
        }
        let recording = burst(seconds: 90, from: 50, to: 55, amplitude: 0.02)
        let (sent, _) = try play(recording.blocks(of: 16), configuration)
        let end = try #require(sent.first { $0.name == "event/last" }).json
        let detectors = try #require(end["detectors"] as? [[String: Any]])
        #expect(detectors.compactMap { $0["name"] as? String } == ["peak", "movement", "sta_lta"])
        let (peak, movement, ratio) = (detectors[0], detectors[1], detectors[2])
        #expect(peak["signal"] as? String == "h" && peak["axes"] == nil)
        #expect((peak["value"] as? Double ?? 0) > 0.012 && abs((peak["max"] as? Double ?? 0) - 0.0224) < 0.001)
        #expect(movement["axes"] as? [String] == ["x"] && movement["direction"] as? String == "+x")
        let peaks = try #require(movement["peaks"] as? [String: Double])
        #expect(abs(abs(peaks["x"] ?? 0) - 0.02) < 0.001 && abs(abs(peaks["y"] ?? 0) - 0.01) < 0.001)
        #expect(ratio["signal"] as? String == "v3" && ratio["threshold"] as? Double == 3)
        #expect((ratio["value"] as? Double ?? 0) >= 3)
        #expect(ratio["max"] as? Double == (end["sta_lta_max"] as? [String: Double])?["v3"])
        let summaries = sent.filter { $0.name == "state/summary" }.map(\.json)
        #expect(summaries[52]["detectors"] as? [String] == ["sta_lta", "movement"])
        let ratios = summaries.map { ($0["sta_lta"] as? [String: Double])?["v3"] ?? -1 }
        #expect(ratios[28] == 0 && ratios[31] > 0 && ratios[31] < 3 && ratios[52] > 3)
    }

    @Test func theEnergyDetectorIsInTheEventAndInTheSummary() throws {
        let configuration = testConfiguration {
            $0.detection.disableAll()
            ($0.detection.energy.enabled, $0.detection.energy.average) = (true, 20)
            $0.detection.energy.signal = .h
        }
        let recording = burst(seconds: 60, from: 40, to: 45, amplitude: 0.02)
        let (sent, _) = try play(recording.blocks(of: 16), configuration)
        let end = try #require(sent.first { $0.name == "event/last" }).json
        let detectors = try #require(end["detectors"] as? [[String: Any]])
        #expect(detectors.count == 1 && detectors[0]["name"] as? String == "energy")
        #expect(detectors[0]["signal"] as? String == "h" && detectors[0]["threshold"] as? Double == 10)
        #expect((detectors[0]["value"] as? Double ?? 0) >= 10)
        #expect(detectors[0]["max"] as? Double == (end["energy_max"] as? [String: Double])?["h"])
        #expect(end["sta_lta_max"] == nil)
        let summaries = sent.filter { $0.name == "state/summary" }.map(\.json)
        #expect(summaries[42]["detectors"] as? [String] == ["energy"] && summaries[42]["triggered"] as? Bool == true)
        let ratios = summaries.map { ($0["energy"] as? [String: Double])?["h"] ?? -1 }
        #expect(ratios[19] == 0 && ratios[30] > 0 && ratios[30] < 10 && ratios[42] > 10)
    }

    @Test func votesAskForSeveralDetectorsAtOnce() throws {
        let recording = burst(seconds: 90, from: 50, to: 55, amplitude: 0.02)
        for (votes, events) in [(1, 1), (2, 0)] {
            let configuration = testConfiguration { $0.detection.event.votes = votes }
            let (sent, _) = try play(recording.blocks(of: 16), configuration)
            #expect(sent.filter { $0.name == "event/last" }.count == events)
        }
    }

    @Test func summariesComeOnceASecondAndTracesInWholeBlocks() throws {
        let (sent, _) = try play(burst(seconds: 30).blocks(of: 16), testConfiguration())
        let summaries = sent.filter { $0.name == "state/summary" }
        #expect(summaries.count == 30 && summaries.allSatisfy { $0.retain && $0.qos == 0 })
        let traces = sent.filter { $0.name == "data/trace" }.map(\.json)
        #expect(traces.count == 30)
        #expect(traces.allSatisfy { $0["n"] as? Int == 20 && $0["rate_hz"] as? Double == 20 })
        #expect(traces.map { $0["seq"] as? Int } == (0..<30).map { $0 })
        let times = try traces.map { try #require(Timestamp($0["t"] as? String ?? "")).nanoseconds }
        for (k, time) in times.enumerated() { #expect(time == burst().start + Int64(k) * 1_000_000_000) }
    }

    @Test func theDelayOfARecursiveTraceFilterIsTakenOffTheTime() throws {
        let configuration = testConfiguration { $0.trace.filter = .recursive }
        let blocks = burst(seconds: 30).blocks(of: 16)
        let traces = try play(blocks, configuration).sent.filter { $0.name == "data/trace" }
        #expect(traces.count == 30)
        let shift = -DecimationFilter(factor: 5, phase: .recursive).fraction * 1e7
        #expect(abs(shift) > 1e5)
        for (k, trace) in traces.enumerated() {
            let time = try #require(Timestamp(trace.json["t"] as? String ?? "")).nanoseconds
            #expect(time == burst().start + Int64(k) * 1_000_000_000 + Int64(shift.rounded()))
        }
    }

    @Test func settingsThatCannotWorkAtTheRealRateNameTheirPath() {
        let configuration = testConfiguration {
            $0.axes.y.filter = .butterworth(.init(band: .lowpass, corners: [45], order: 2))
        }
        do throws(StationError) {
            _ = try StationPipeline(configuration: configuration, sensor: StationSensor(rate: 80), boot: "boot")
            Issue.record("was taken")
        } catch {
            #expect(error.path == "/axes/y/filter")
            #expect(error.message.contains("below 40.0 Hz"))
        }
    }
}

@Suite struct SampleClockTests {
    @Test func timesDoNotDependOnTheBlocksAndStayExact() {
        var counted = SampleClock(time: 7, rate: 60)
        for index in stride(from: 0, through: 30_000_000, by: 16) { counted.advance(to: index, blockTime: nil) }
        let exact = 7 + Int64(30_000_000) * 1_000_000_000 / 60
        #expect(abs(counted.time(30_000_000) - exact) < 20)
    }

    @Test func followsABlockWhoseTimeWasMeasured() {
        var clock = SampleClock(time: 0, rate: 100)
        clock.advance(to: 16, blockTime: 160_000_100)
        #expect(clock.time(16) == 160_000_000)
        clock.advance(to: 32, blockTime: 320_500_000)
        #expect(clock.time(33) == 330_500_000)
        #expect(clock.time(31) == 310_500_000)
    }
}
