import Foundation
import Instruments
import Messages
import MiniSEED
import Seismology
import Sensors
import Settings
import SignalProcessing
import TestSupport
import Testing

@testable import Station

/// A real earthquake against numbers computed independently; `deploy/checks/replay-reference` does all records.
@Suite struct ReferenceTests {
    private typealias Object = [String: Any]

    private func object(_ any: Any?) throws -> Object { try #require(any as? Object) }

    private func number(_ any: Any?) throws -> Double { try #require(any as? Double) }

    private func sensor(_ expected: Object) throws -> ReplaySensor {
        let counts = try object(expected["counts_per_m_s2"])
        var settings = ReplaySettings(file: Vectors.url("records/r10_ridgecrest38_tow2.mseed").path)
        settings.speed = 0
        settings.scale = PerAxis(
            x: 1 / (try number(counts["x"])), y: 1 / (try number(counts["y"])), z: 1 / (try number(counts["z"])))
        return ReplaySensor(settings)
    }

    private func configuration(_ set: String, level: Double) -> Configuration {
        testConfiguration { c in
            var axis = c.axes.x
            axis.detection.threshold = level
            switch set {
            case "A":
                c.conditioning.offset = .meanFirst(seconds: 2)
                axis.filter = .butterworth(.init(band: .bandpass, corners: [0.5, 10], order: 2))
                (axis.detection.window, axis.detection.hold) = (.seconds(1), .seconds(0.2))
            case "B":
                c.conditioning.offset = .ema(.corner(0.1))
                axis.filter = .butterworth(.init(band: .highpass, corners: [1], order: 2))
                (axis.detection.window, axis.detection.hold) = (.samples(20), .samples(20))
            default:
                c.conditioning.offset = .highpass(corner: 0.1, order: 2)
                axis.filter = .butterworth(.init(band: .lowpass, corners: [8], order: 4, start: .steady))
                (axis.detection.window, axis.detection.hold) = (.seconds(0.5), .samples(1))
            }
            c.axes = PerAxis(axis)
        }
    }

    private final class Series {
        var filtered: [[Double]] = [[], [], []]
        var rms: [[Double]] = [[], [], []]
        var triggered: [[UInt8]] = [[], [], []]
        var ratio: [[Double]] = [[], [], []]

        func take(_ chunk: SeriesChunk, _ columns: [RatioColumn]) {
            for axis in 0..<3 {
                let k = axis * chunk.stride
                filtered[axis] += UnsafeBufferPointer(start: chunk.filtered + k, count: chunk.count)
                rms[axis] += UnsafeBufferPointer(start: chunk.rms + k, count: chunk.count)
                triggered[axis] += UnsafeBufferPointer(start: chunk.triggered + k, count: chunk.count)
            }
            for (i, column) in columns.enumerated() {
                ratio[i] += UnsafeBufferPointer(start: chunk.ratio(column), count: chunk.count)
            }
        }

        func intervals(_ axis: Int) -> [[Int]] {
            var out: [[Int]] = []
            var on: Int?
            for (i, state) in triggered[axis].enumerated() {
                if state == 1, on == nil { on = i }
                if state == 0, let start = on {
                    out.append([start, i])
                    on = nil
                }
            }
            if let on { out.append([on, triggered[axis].count]) }
            return out
        }
    }

    private func play(_ configuration: Configuration, _ expected: Object) throws -> (Series, [Sent]) {
        var sensor = try sensor(expected)
        let rate = try sensor.open().rate
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: rate), boot: "boot")
        let series = Series()
        let columns = pipeline.ratioColumns
        pipeline.onSeries = { series.take($0, columns) }
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        var block = SampleBlock(capacity: 100)
        while try sensor.read(into: &block) == .samples { pipeline.process(block, quality: .replay, to: sink) }
        pipeline.finish(to: sink)
        return (series, sent)
    }

    @Test(arguments: ["A", "B", "C"]) func seriesAndTriggersAreThoseOfTheReference(set: String) throws {
        let expected = try object(try Vectors.json("pipeline/r10.json"))
        let reference = try object(try object(expected["sets"])[set])
        for entry in try #require(reference["triggers"] as? [Object]) {
            let (series, _) = try play(configuration(set, level: try number(entry["level"])), expected)
            #expect(series.filtered[0].count == 7500)
            let intervals = try object(entry["intervals"])
            for (axis, name) in ["x", "y", "z"].enumerated() {
                #expect(
                    series.intervals(axis) == intervals[name] as? [[Int]], "\(set) \(name) at \(entry["level"] ?? "")")
                let filtered = try object(try object(reference["filtered"])[name])
                let (low, high) = (try number(filtered["min"]), try number(filtered["max"]))
                // The stored numbers come from the CSV of ten digits, ours from the counts.
                let tolerance = 1e-9 * max(abs(low), abs(high)) + 5e-11
                #expect(abs((series.filtered[axis].min() ?? 0) - low) < tolerance)
                #expect(abs((series.filtered[axis].max() ?? 0) - high) < tolerance)
                #expect(abs((series.filtered[axis].last ?? 0) - (try number(filtered["last"]))) < tolerance)
                let rms = try object(try object(reference["rms"])[name])
                #expect(abs((series.rms[axis].max() ?? 0) - (try number(rms["max"]))) < tolerance)
                #expect(abs((series.rms[axis].last ?? 0) - (try number(rms["last"]))) < tolerance)
            }
        }
    }

    /// Half-open intervals from a ratio of at least `on` to the first below `off`.
    private func picks(_ ratio: [Double], _ on: Double, _ off: Double) -> [[Int]] {
        var picks: [[Int]] = []
        var start: Int?
        for (i, r) in ratio.enumerated() {
            if let first = start {
                if r < off {
                    picks.append([first, i])
                    start = nil
                }
            } else if r >= on {
                start = i
            }
        }
        if let start { picks.append([start, ratio.count]) }
        return picks
    }

    @Test(arguments: [("A", 0.5, 10.0, 4.0, 2.0), ("B", 1, 15, 3, 1.5), ("C", 0.3, 6, 5, 1.2)])
    func shortOverLongAverageIsThatOfTheReference(
        set: String, sta: Double, lta: Double, on: Double, off: Double
    ) throws {
        let expected = try object(try Vectors.json("pipeline/r10.json"))
        let reference = try object(try object(try object(expected["sets"])[set])["sta_lta"])
        for method in [Seismology.STALTA.Method.classic, .recursive] {
            var configuration = configuration(set, level: 1)
            configuration.detection.staLTA.method = method
            configuration.detection.staLTA.signal = .each
            configuration.detection.staLTA.filter = nil
            (configuration.detection.staLTA.sta, configuration.detection.staLTA.lta) = (sta, lta)
            let (series, _) = try play(configuration, expected)
            let stored = try object(reference[method.rawValue])
            let wanted = try object(stored["picks"])
            for (axis, name) in ["x", "y", "z"].enumerated() {
                let ratio = series.ratio[axis]
                #expect(picks(ratio, on, off) == wanted[name] as? [[Int]], "\(method) \(name)")
                let largest = try object(try object(stored["max"])[name])
                #expect(ratio.firstIndex(of: ratio.max() ?? 0) == largest["index"] as? Int)
                #expect(abs((ratio.max() ?? 0) / (try number(largest["value"])) - 1) < 1e-7)
            }
        }
    }

    @Test func peaksAndIntensitiesOfTheWholeRecord() throws {
        let expected = try object(try Vectors.json("pipeline/r10.json"))
        var configuration = configuration("A", level: 1e-12)
        configuration.axes = PerAxis(configuration.axes.x)
        for axis in 0..<3 {
            configuration.axes[axis].filter = .none
            configuration.axes[axis].detection.window = .samples(1)
            configuration.axes[axis].detection.hold = .samples(1)
        }
        configuration.intensity.scales = [.gutenbergRichter, .wald99, .worden12]
        // The samples of the mean's time are not valid, so the event begins after them and reaches back over them.
        configuration.detection.event.preEvent = 10
        configuration.detection.event.postEvent = 100
        let (_, sent) = try play(configuration, expected)
        let ends = sent.filter { $0.name == "event/last" }
        #expect(ends.count == 1)
        let event = try #require(ends.first).json
        let pga = try object(expected["pga"])
        let peaks = try object(event["peaks"])
        for (ours, theirs) in [("x", "x"), ("y", "y"), ("z", "z"), ("h", "h_vector"), ("v3", "vector")] {
            let value = try number(try object(peaks[ours])["value"])
            #expect(abs(value / (try number(pga[theirs])) - 1) < 1e-8, "\(ours)")
        }
        #expect(abs(try number(event["pgv"]) / (try number(expected["pgv_h_max"])) - 1) < 1e-7)
        // This record begins in motion: its largest velocity lies 1.3 s after a start from zero, where nobody can know it.
        #expect(event["velocity_valid"] as? Bool == false)
        let mmi = try object(expected["mmi"])
        let intensities = try #require(event["intensity"] as? [Object])
        let values = ["gutenberg_richter_pga", "wald99_combined", "worden12_pgv"]
        for (intensity, name) in zip(intensities, values) {
            #expect(abs(try number(intensity["value"]) - (try number(mmi[name]))) < 1e-6)
        }
        #expect(abs(try number(intensities[2]["from_pga"]) - (try number(mmi["worden12_pga"]))) < 1e-6)
        let (arias, cav) = (try object(expected["arias"]), try object(expected["cav"]))
        let larger = max(try number(arias["x"]), try number(arias["y"]))
        #expect(abs(try number(event["arias"]) / larger - 1) < 1e-6)
        #expect(abs(try number(event["cav"]) / max(try number(cav["x"]), try number(cav["y"])) - 1) < 1e-6)
        // The axis with the larger Arias intensity is x.
        #expect(abs(try number(event["d5_75_s"]) - (try number(expected["d5_75_x"]))) < 1e-9)
        #expect(abs(try number(event["d5_95_s"]) - (try number(expected["d5_95_x"]))) < 1e-9)
        // Nothing of this record reaches 0.025 g.
        #expect(try number(event["cav_std"]) == 0)
    }

    /// The intensity of the last minute, each second, and of the whole record; strongest frequencies. The reference takes
    /// the last samples there are, from 3 s on.
    @Test func jmaIntensityAndStrongestFrequency() throws {
        let expected = try object(try Vectors.json("pipeline/r10-intensity.json"))
        var configuration = configuration("A", level: 1e-12)
        for axis in 0..<3 { configuration.axes[axis].filter = .none }
        configuration.detection.event.postEvent = 100
        configuration.intensity.scales = [.jma]
        configuration.intensity.jmaWindow = 60
        let (_, sent) = try play(configuration, expected)
        let summaries = sent.filter { $0.name == "state/summary" }.map(\.json)
        let sliding = try #require(expected["jma60_raw"] as? [Any])
        #expect(summaries.count == sliding.count)
        for (second, (summary, any)) in zip(summaries, sliding).enumerated() {
            let intensity = (summary["intensity"] as? [Object])?.first
            // In its first seconds the offset's mean is not known yet, and after that both have the same samples.
            guard let want = any as? Double else {
                #expect(intensity == nil)
                continue
            }
            #expect(abs(try number(intensity?["raw"]) - want) < 1e-5, "second \(second)")
        }
        let event = try #require(sent.first { $0.name == "event/last" }).json
        let intensity = try #require((event["intensity"] as? [Object])?.first)
        let jma = try object(expected["jma"])
        #expect(abs(try number(intensity["raw"]) - (try number(jma["intensity_raw"]))) < 1e-6)
        #expect(try number(intensity["value"]) == (try number(jma["intensity"])))
        #expect(intensity["grade"] as? String == jma["class"] as? String)
        // x is the axis with the largest amplitude (rival ratio 0.83).
        let strongest = try object(try object(expected["dominant_frequency"])["x"])
        #expect(abs(try number(event["dominant_hz"]) - (try number(strongest["hz_interp"]))) < 1e-4)
    }
}
