import Foundation
import Messages
import MiniSEED
import Seismology
import Settings
import SignalProcessing
import Testing
import Values

@testable import Station

@Suite struct GapTests {
    /// Gravity, noise, and from 30 s on an earthquake of some frequencies that grows in 3 s and fades in 8.
    private func quake(seconds: Double = 90, rate: Double = 100) -> Recording {
        var state: UInt64 = 77
        let n = Int(seconds * rate)
        var axes = [[Double]](repeating: [Double](repeating: 0, count: n), count: 3)
        for axis in 0..<3 {
            for i in 0..<n {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let t = Double(i) / rate - 30
                var a = (Double(state >> 40) / Double(1 << 24) - 0.5) * 1e-3
                if t > 0 {
                    let envelope = min(1, t / 3) * exp(-t / 8)
                    for (k, hz) in [0.7, 1.3, 2.9, 5.3].enumerated() {
                        a += envelope * sin(2 * .pi * hz * (1 + 0.07 * Double(axis)) * t + Double(k + axis))
                    }
                }
                axes[axis][i] = a + (axis == 2 ? 9.80665 : 0.3)
            }
        }
        return Recording(rate: rate, x: axes[0], y: axes[1], z: axes[2])
    }

    private func cut(_ recording: Recording, at place: Int, missing: Int, size: Int = 64) -> [SampleBlock] {
        var rest = recording
        rest.x.removeSubrange(place..<place + missing)
        rest.y.removeSubrange(place..<place + missing)
        rest.z.removeSubrange(place..<place + missing)
        return rest.blocks(of: size, gaps: [place: missing])
    }

    private func ends(_ sent: [Sent]) -> [[String: Any]] {
        sent.filter { $0.name == "event/trigger" }.map(\.json).filter { $0["event_type"] as? String == "end" }
    }

    private let configuration = testConfiguration { $0.conditioning.settle = nil }

    /// Whatever is missing: one event, its acceleration exact, nothing larger than it was, and what is not known says so.
    @Test(arguments: [1, 5, 20, 50, 100, 200]) func anEventGoesOnOverAGap(_ missing: Int) throws {
        let recording = quake()
        let whole = try #require(ends(try play(recording.blocks(of: 64), configuration).sent).first)
        func number(_ event: [String: Any], _ name: String) -> Double { event[name] as? Double ?? .nan }
        for place in [2995, 3120, 3250, 3301, 3333, 3377, 3450, 3700, 4100] {
            let all = ends(try play(cut(recording, at: place, missing: missing), configuration).sent)
            let end = try #require(all.first)
            #expect(all.count == 1, "\(place)")
            #expect(end["gaps"] as? Int == 1)
            #expect(abs(number(end, "missing_s") - Double(missing) / 100) < 1e-9)
            for name in ["pgv", "pgd", "arias", "cav"] {
                #expect(number(end, name) <= 1.1 * number(whole, name), "\(name) at \(place)")
            }
            // (The removal of the offset looks back ten seconds.)
            #expect(number(end, "pga") <= 1.05 * number(whole, "pga"))
            if end["velocity_valid"] as? Bool != false {
                #expect(number(end, "pgv") >= (missing <= 20 ? 0.9 : 0.75) * number(whole, "pgv"), "\(place)")
            }
        }
    }

    /// A single sample that is lost is no matter: PGV is valid and right.
    @Test func aLostSampleChangesNothing() throws {
        let recording = quake()
        let whole = try #require(ends(try play(recording.blocks(of: 64), configuration).sent).first)
        for place in [3310, 3355, 3420] {
            let end = try #require(ends(try play(cut(recording, at: place, missing: 1), configuration).sent).first)
            #expect(end["velocity_valid"] == nil)
            let ratio = (end["pgv"] as? Double ?? 0) / (whole["pgv"] as? Double ?? 1)
            #expect(abs(ratio - 1) < 0.02, "\(ratio)")
        }
    }

    /// The level stays what it was: an offset that is known makes no transient, however long the gap.
    @Test func aLongGapInMotionIsNeverToldTooLarge() throws {
        let recording = quake()
        let whole = try #require(ends(try play(recording.blocks(of: 64), configuration).sent).first)
        let largest = try #require(whole["pgv"] as? Double)
        for (place, missing) in [(3100, 300), (3300, 500), (3350, 300)] {
            let (sent, _) = try play(cut(recording, at: place, missing: missing), configuration)
            for summary in sent.filter({ $0.name == "state/summary" }).map(\.json)
            where summary["valid"] as? Bool == true {
                #expect(summary["pgv"] as? Double ?? 0 <= 1.1 * largest)
            }
            for end in ends(sent) { #expect(end["pgv"] as? Double ?? 0 <= 1.1 * largest) }
        }
    }

    @Test func theBytesDoNotDependOnBlocks() throws {
        let recording = quake(seconds: 60)
        for missing in [7, 150, 400] {
            let whole = try play(cut(recording, at: 3340, missing: missing, size: 1000), configuration).sent
            for size in [1, 17, 64] {
                #expect(try play(cut(recording, at: 3340, missing: missing, size: size), configuration).sent == whole)
            }
        }
    }

    /// Gaps that follow one another faster than a second: summaries still come, and nothing is lost but what is missing.
    @Test func manyGapsLeaveTheSummaries() throws {
        let recording = burst(seconds: 40, from: 100)
        var rest = recording
        var gaps: [Int: Int] = [:]
        var (kept, i) = ([Int](), 0)
        while i < recording.x.count {
            if i > 1000, i % 50 == 0 {
                gaps[kept.count] = 3
                i += 3
            }
            kept.append(i)
            i += 1
        }
        (rest.x, rest.y, rest.z) = (
            kept.map { recording.x[$0] }, kept.map { recording.y[$0] }, kept.map { recording.z[$0] }
        )
        let (sent, status) = try play(rest.blocks(of: 16, gaps: gaps), configuration)
        #expect(status.gaps == gaps.count && status.samples == kept.count)
        let times = sent.filter { $0.name == "state/summary" }.count
        #expect(times >= 38 && times <= 41, "\(times)")
    }

    /// A floor that vibrates with 4 mm/s when the station starts, and after a gap.
    @Test func aStartInMotionIsNotToldAsMotion() throws {
        let rate = 250.0
        let circular = 2 * Double.pi * 40
        let a: [Double] = (0..<Int(90 * rate)).map { (i: Int) -> Double in
            4e-3 * circular * cos(circular * Double(i) / rate)
        }
        let recording = Recording(rate: rate, x: a, y: a.map { $0 / 10 }, z: a.map { 9.80665 + $0 / 10 })
        let (sent, _) = try play(cut(recording, at: Int(60 * rate), missing: 125), configuration, rate: rate)
        let summaries = sent.filter { $0.name == "state/summary" }.map(\.json)
        let valid = summaries.filter { $0["valid"] as? Bool == true }
        #expect(valid.count > 5 && valid.count < summaries.count - 5, "\(valid.count) of \(summaries.count)")
        // (The trapezoid is 9 % low at such a frequency.)
        let steady = try #require(valid.last?["pgv"] as? Double)
        #expect(abs(steady / 3.65e-3 - 1) < 0.01)
        for summary in valid {
            let pgv = try #require(summary["pgv"] as? Double)
            #expect(abs(pgv / steady - 1) < 0.05, "\(pgv) at \(summary["t"] ?? "")")
        }
    }

    /// A sample at the sensor's end hides how fast the ground was: the velocity says that it is not certain. The same motion
    /// within the range, and one that was at the end long after the peak by little, are as they are.
    @Test func aClippedSampleMakesTheVelocityUncertain() throws {
        let recording = quake()
        func played(range: Double, size: Int = 64) throws -> [Sent] {
            var clipped = recording
            for i in clipped.x.indices {
                clipped.x[i] = min(max(clipped.x[i], -range), range)
                clipped.y[i] = min(max(clipped.y[i], -range), range)
            }
            var pipeline = try StationPipeline(
                configuration: configuration, sensor: StationSensor(rate: 100, range: 12), boot: "boot")
            if range < 12 {
                // (The vertical's gravity is beyond a range that cuts the horizontals.)
                clipped.z = clipped.z.map { $0 - 9.80665 }
                pipeline = try StationPipeline(
                    configuration: configuration, sensor: StationSensor(rate: 100, range: range), boot: "boot")
            }
            var sent: [Sent] = []
            let sink: PublicationSink = { header, bytes in
                sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
            }
            for block in clipped.blocks(of: size) { pipeline.process(block, quality: .replay, to: sink) }
            pipeline.finish(to: sink)
            return sent
        }
        let (free, cut) = (try played(range: 12), try played(range: 1))
        let (whole, end) = (try #require(ends(free).first), try #require(ends(cut).first))
        #expect(whole["clipped"] as? Bool == false && whole["velocity_valid"] == nil)
        #expect(end["clipped"] as? Bool == true && end["velocity_valid"] as? Bool == false)
        for summary in cut.filter({ $0.name == "state/summary" }).map(\.json) where summary["valid"] as? Bool == true {
            #expect(summary["pgv"] as? Double ?? 0 <= 1.1 * (whole["pgv"] as? Double ?? 0))
        }
        for size in [1, 7, 100] { #expect(try played(range: 1, size: size) == cut) }
    }

    /// The time before an event is counted in seconds, not in samples: what was before a gap of an hour is in no peak, no gap
    /// and no waveform of an event that begins soon after it; what a short gap leaves of ten seconds is.
    @Test(arguments: [1.5, 2, 2.5, 3, 4, 7, 12, 60, 3600])
    func theTimeBeforeAnEventIsSecondsOverAGap(missing: Double) throws {
        let configuration = testConfiguration {
            $0.conditioning.settle = nil
            ($0.detection.event.postEvent, $0.detection.event.deadTime) = (2, 0)
        }
        var recording = burst(seconds: 60, from: 20, to: 25, amplitude: 3)
        // A gap behind second 26; the next event begins five seconds later.
        let second = burst(seconds: 60, from: 31, to: 34, amplitude: 0.3)
        for i in 3100..<3400 {
            (recording.x[i], recording.y[i], recording.z[i]) = (second.x[i], second.y[i], second.z[i])
        }
        let sent = try play(recording.blocks(of: 64, gaps: [2600: Int(missing * 100)]), configuration).sent
        let end = try #require(ends(sent).last)
        let id = try #require(end["event_id"] as? String)
        let onset = try #require(Timestamp(end["onset"] as? String ?? "")).nanoseconds
        var times: [Int64] = []
        for message in sent where message.name == "data/waveform/\(id)" {
            var reader = MiniSEEDReader(message.bytes)
            while let record = try reader.next() { times.append(record.header.start) }
        }
        let earliest = try #require(times.min())
        let (wanted, behind) = (onset - 10_000_000_000, recording.start + Int64((26 + missing) * 1e9))
        let isOver = wanted < behind - Int64(missing * 1e9)
        let expected = isOver ? wanted : max(wanted, behind)
        #expect(abs(earliest - expected) <= 10_000_000, "begins \(Double(onset - earliest) / 1e9) s before the onset")
        #expect(end["gaps"] as? Int ?? 0 == (isOver ? 1 : 0))
        #expect(end["missing_s"] as? Double ?? 0 == (isOver ? missing : 0))
        // (What is left of the strong motion is in the ten seconds behind the shortest gap.)
        let pga = try #require(end["pga"] as? Double)
        #expect(isOver && wanted < behind - Int64((1 + missing) * 1e9) ? pga > 2 : pga < 0.5, "\(pga)")
        #expect(ends(sent).count == 2)
    }

    /// An event that is open when the samples break off is over when it would have been without motion, not when they come back:
    /// after an hour it had lasted an hour. The gap is one of its own; what it was is not certain.
    @Test(arguments: [3, 9.5, 12, 13, 60, 3600]) func anEventThatIsCutByAGapEndsInTime(missing: Double) throws {
        let configuration = testConfiguration {
            $0.conditioning.settle = nil
            $0.detection.event.postEvent = 15
        }
        let recording = burst(seconds: 60, from: 20, to: 25, amplitude: 3)
        let whole = try #require(ends(try play(recording.blocks(of: 64), configuration).sent).first)
        for size in [1, 64] {
            let cut = recording.blocks(of: size, gaps: [2750: Int(missing * 100)])
            let all = ends(try play(cut, configuration).sent)
            #expect(all.count == 1)
            let end = try #require(all.first)
            for name in ["event_id", "onset", "end", "duration_s", "pga"] {
                #expect("\(end[name] ?? "")" == "\(whole[name] ?? "")", "\(name) with \(missing) s missing")
            }
            let duration = try #require(end["duration_s"] as? Double)
            let last = try #require(Timestamp(end["onset"] as? String ?? "")).nanoseconds + Int64(duration * 1e9)
            let left = Double(last - recording.start) / 1e9 - 27.49
            #expect(end["gaps"] as? Int == 1)
            #expect(abs((end["missing_s"] as? Double ?? 0) - min(left, missing)) < 1e-3)
        }
    }

    /// While a sensor is away an event ends as soon as it would have without motion: it was told as under way until samples came
    /// back. What is told of it, and of what follows, is what is told where nobody waits for them.
    @Test(arguments: [1.5, 3, 9.5, 12.75, 13, 60, 3600]) func anEventDoesNotWaitForASensorThatIsAway(missing: Double)
        throws
    {
        // (A short gap is bridged: an event in the midst of its motion goes on, however short its rest may be.)
        let isBridged = missing < 2
        let configuration = testConfiguration {
            $0.conditioning.settle = nil
            $0.detection.event.postEvent = isBridged ? 1 : 15
        }
        var recording = burst(seconds: 90, from: 20, to: 25, amplitude: 3)
        let second = burst(seconds: 90, from: 60, to: 65, amplitude: 2)
        for i in 3000..<9000 { recording.x[i] = second.x[i] }
        let blocks = recording.blocks(of: 50, gaps: [isBridged ? 2250 : 2750: Int(missing * 100)])
        /// What is sent, and how long the sensor had been away at each end of an event; nil: it was not.
        func play(waiting: Bool) throws -> (sent: [Sent], ends: [Double?]) {
            var pipeline = try StationPipeline(
                configuration: configuration, sensor: StationSensor(rate: 100), boot: "boot")
            var (sent, away, ended): ([Sent], Double?, [Double?]) = ([], nil, [])
            let sink: PublicationSink = { header, bytes in
                let one = Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes))
                sent.append(one)
                if one.name == "event/trigger", one.json["event_type"] as? String == "end" { ended.append(away) }
            }
            for block in blocks {
                if block.gapBefore, !sent.isEmpty, waiting {
                    for k in 1...max(1, Int(min(missing, 100) * 4)) {
                        away = Double(k) / 4
                        pipeline.noteSilence(seconds: Double(k) / 4, to: sink)
                    }
                    away = nil
                }
                pipeline.process(block, quality: .replay, to: sink)
            }
            pipeline.finish(to: sink)
            return (sent, ended)
        }
        let (waited, plain) = (try play(waiting: true), try play(waiting: false))
        #expect(ends(waited.sent).count == 2 && plain.ends == [nil, nil])
        let first = try #require(waited.ends.first)
        let missed = try #require(ends(plain.sent).first?["missing_s"] as? Double)
        if missed < missing {
            let away = try #require(first)
            #expect(missing > 13 && away > missed && away <= missed + 0.25)
        } else {
            #expect(missing < 15 && first == nil)
        }
        for name in Set(plain.sent.map(\.name)) {
            func texts(_ sent: [Sent]) -> [String] {
                sent.filter { $0.name == name }.map { String(decoding: $0.bytes, as: UTF8.self) }
            }
            let isSame = texts(waited.sent) == texts(plain.sent)
            #expect(isSame, "\(name)")
        }
    }

    /// The noise before a gap is known behind it: an earthquake is found as soon as the filters have settled, by each detector
    /// that compares with an average, by itself. Noise alone is none, however often it is cut.
    /// - Parameter method: of STA/LTA; nil: the detector of energy.
    @Test(arguments: STALTA.Method.allCases.map(Optional.init) + [nil], [2.5, 5, 20, 60])
    func detectorsKnowTheNoiseBehindAGap(method: STALTA.Method?, missing: Double) throws {
        let detecting = testConfiguration {
            $0.conditioning.settle = nil
            $0.detection.level.enabled = false
            $0.detection.staLTA.enabled = method != nil
            $0.detection.staLTA.method = method ?? .classic
            $0.detection.energy.enabled = method == nil
            $0.detection.energy.average = 30
        }
        func onsets(_ recording: Recording, _ gaps: [Int: Int]) throws -> [Double] {
            let sent = try play(recording.blocks(of: 64, gaps: gaps), detecting).sent
            return sent.compactMap {
                guard $0.name == "event/trigger", $0.json["event_type"] as? String == "onset" else { return nil }
                return Double($0.json["onset"].map { "\($0)" }?.dropFirst(17).prefix(6) ?? "") ?? .nan
            }
        }
        var late = quake(seconds: 90)
        let noise = quake(seconds: 30)
        // 60 s of noise, a gap, 15 s of noise, an earthquake.
        late.x = noise.x + noise.x + noise.x[0..<1500] + late.x[3000...]
        late.y = noise.y + noise.y + noise.y[0..<1500] + late.y[3000...]
        late.z = noise.z + noise.z + noise.z[0..<1500] + late.z[3000...]
        let cut = try onsets(late, [6000: Int(missing * 100)])
        let whole = try onsets(late, [:])
        #expect(whole.count == 1 && cut.count == 1)
        let later = (cut.first ?? .nan) - (whole.first ?? .nan) - missing
        #expect(abs(later - 60 * (later / 60).rounded()) < 0.05, "\(cut) and \(whole)")

        var quiet = noise
        for _ in 0..<9 { (quiet.x, quiet.y, quiet.z) = (quiet.x + noise.x, quiet.y + noise.y, quiet.z + noise.z) }
        var gaps: [Int: Int] = [:]
        for place in stride(from: 4000, to: 29000, by: 2111) { gaps[place] = Int(missing * 100) + place % 300 }
        #expect(try onsets(quiet, gaps) == [])
    }

    /// A spike of the bus in an event is in its peaks: they are right, or say that they are not. The event whose own motion is
    /// larger than the spike stays certain of its acceleration.
    @Test(arguments: [0, 1, 2], [0.5, 3, 30.0]) func aSpikeInAnEventIsTold(axis: Int, height: Double) throws {
        let recording = quake()
        let whole = try #require(ends(try play(recording.blocks(of: 64), configuration).sent).first)
        #expect(whole["acceleration_valid"] == nil && whole["velocity_valid"] == nil)
        func number(_ event: [String: Any], _ name: String) -> Double { event[name] as? Double ?? .nan }
        for (place, sign) in [(3080, 1.0), (3333, -1.0), (3700, 1.0), (4160, -1.0)] {
            var spiked = recording
            switch axis {
            case 0: spiked.x[place] += sign * height
            case 1: spiked.y[place] += sign * height
            default: spiked.z[place] += sign * height
            }
            let sent = try play(spiked.blocks(of: 64), configuration).sent
            let end = try #require(ends(sent).first)
            let off = abs(number(end, "pga") / number(whole, "pga") - 1)
            // (Below a few times what successive samples differ by, nobody can tell it from the motion.)
            if height > 1 || place > 4000 {
                if off > 0.02 { #expect(end["acceleration_valid"] as? Bool == false, "\(place): PGA \(off) off") }
                let velocity = abs(number(end, "pgv") / number(whole, "pgv") - 1)
                if velocity > 0.1 { #expect(end["velocity_valid"] as? Bool == false, "\(place): PGV \(velocity) off") }
            }
            if off == 0, axis < 2, height < 1 { #expect(end["acceleration_valid"] == nil, "\(place)") }
            let summaries = sent.filter { $0.name == "state/summary" }.map(\.json)
            for summary in summaries where summary["valid"] as? Bool == true {
                #expect(height < 1 || number(summary, "pgv") <= 1.1 * number(whole, "pgv"), "\(place)")
                #expect(height < 1 || number(summary, "pga") <= 1.02 * number(whole, "pga"), "\(place)")
            }
            if height > 20 { #expect(summaries.contains { $0["reason"] as? String == "spike" }) }
            for size in [1, 7, 100] where place == 3333 {
                #expect(try play(spiked.blocks(of: size), configuration).sent == sent)
            }
        }
    }

    /// What a coarse sensor's last bit does in a quiet room is no spike.
    @Test func theStepOfACoarseSensorIsNoSpike() throws {
        var recording = quake(seconds: 70)
        for i in recording.x.indices { (recording.x[i], recording.y[i]) = (i % 97 == 50 ? 0.19 : 0, 0) }
        recording.z = recording.z.map { _ in 9.81 }
        func valid(_ resolution: Double?) throws -> [Bool] {
            var pipeline = try StationPipeline(
                configuration: configuration, sensor: StationSensor(rate: 100, resolution: resolution), boot: "boot")
            var valid: [Bool] = []
            let sink: PublicationSink = { header, bytes in
                guard header.topic.hasSuffix("state/summary") else { return }
                let json = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
                valid.append(json?["valid"] as? Bool == true)
            }
            for block in recording.blocks(of: 64) { pipeline.process(block, quality: .replay, to: sink) }
            return valid
        }
        #expect(try valid(0.19).suffix(3) == [true, true, true])
        #expect(try valid(nil).suffix(3) == [false, false, false])
    }

    /// What is sent of a recording in blocks of 50, with other settings from one of them on.
    private func played(
        _ recording: Recording, changedAt place: Int, _ change: (inout Configuration) -> Void
    ) throws -> [Sent] {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: 100), boot: "boot")
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        for (i, block) in recording.blocks(of: 50).enumerated() {
            if i == place {
                var other = configuration
                change(&other)
                try pipeline.reconfigure(other, revision: 2, to: sink)
            }
            pipeline.process(block, quality: .replay, to: sink)
        }
        pipeline.finish(to: sink)
        return sent
    }

    /// Whatever changes in motion: the velocity is as it was, or says that it is not certain.
    @Test(arguments: 0..<5) func noChangeInMotionMakesTheVelocityLarger(_ kind: Int) throws {
        let recording = quake()
        let whole = try #require(ends(try play(recording.blocks(of: 50), configuration).sent).first)
        let largest = try #require(whole["pgv"] as? Double)
        for place in [62, 66, 67, 70] {
            let sent = try played(recording, changedAt: place) { other in
                switch kind {
                case 0: other.conditioning.offset = .meanFirst(seconds: 2)
                case 1: other.conditioning.offset = .none
                case 2: other.conditioning.offset = .ema(.corner(0.05))
                case 3: other.sensor.calibration.offset.x = 0.25
                default:
                    other.axes.x.filter = .butterworth(.init(band: .lowpass, corners: [5], order: 2, start: .zero))
                }
            }
            for end in ends(sent) where end["velocity_valid"] as? Bool != false {
                #expect(end["pgv"] as? Double ?? 0 <= 1.1 * largest, "\(place)")
            }
            for summary in sent.filter({ $0.name == "state/summary" }).map(\.json)
            where summary["valid"] as? Bool == true {
                #expect(summary["pgv"] as? Double ?? 0 <= 1.1 * largest, "\(place)")
            }
        }
    }

    /// Another removal of the offset in motion: the ground's velocity has nothing to do with it.
    @Test func aChangeOfTheOffsetInMotionLeavesTheVelocity() throws {
        let recording = quake()
        let whole = try #require(ends(try play(recording.blocks(of: 50), configuration).sent).first)
        let sent = try played(recording, changedAt: 67) { $0.conditioning.offset = .highpass(corner: 0.05, order: 2) }
        let first = try #require(ends(sent).first)
        #expect(first["pgv"] as? Double == whole["pgv"] as? Double)
    }
}
