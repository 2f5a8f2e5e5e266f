import Dispatch
import Foundation
import Messages
import Settings
import SignalProcessing
import Station
import Synchronization

/// Plays recordings through the pipeline with gaps, starts and a change of settings in strong motion, and compares what
/// the strongest event says with the whole recording.
///
///     gaps NUMBER SEED FILE:RATE …
///
/// NUMBER is how many places of each length are drawn for each recording; 0: every place at which a gap begins or ends in the
/// event's strongest second (of gaps longer than 2 s one in 50 ms), and four a second from 2 s before it to 8 s after it, on all
/// processors, the Japanese intensity at one place in four. A FILE has lines `t,x,y,z` below a header, m/s². Prints a
/// table, and fails where a number is wrong and does not say so.
@main
struct Main {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count >= 3, let number = Int(words[words.startIndex]),
            var seed = UInt64(words[words.startIndex + 1])
        else { throw Failure("gaps NUMBER SEED FILE:RATE …") }
        var table = Table()
        for word in words.dropFirst(2) {
            let parts = word.split(separator: ":")
            guard parts.count == 2, let rate = Double(parts[1]) else { throw Failure("\(word): FILE:RATE") }
            let recording = try Recording(csv: String(parts[0]), rate: rate)
            try table.play(recording, number: number, seed: &seed)
        }
        table.print()
        if !table.faults.isEmpty {
            for fault in table.faults.prefix(20) { Swift.print("FAULT: \(fault)") }
            Swift.print("\(table.faults.count) faults")
            exit(1)
        }
    }
}

struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// A three-axis recording in memory, m/s².
struct Recording {
    var name: String
    var rate: Double
    var x: [Double] = []
    var y: [Double] = []
    var z: [Double] = []
    var count: Int { x.count }

    init(csv path: String, rate: Double) throws {
        name = String(URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent.prefix(3))
        self.rate = rate
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst() {
            let values = line.split(separator: ",").compactMap { Double($0) }
            guard values.count >= 4 else { throw Failure("\(path): a line without four numbers") }
            x.append(values[1])
            y.append(values[2])
            z.append(values[3])
        }
    }
}

/// What is done to a recording.
enum Seam: Sendable {
    case none
    /// So many samples are missing before one.
    case gap(at: Int, missing: Int)
    /// It begins with a sample.
    case start(at: Int)
    /// The removal of the offset is another from a sample on.
    case change(at: Int)
}

/// The strongest event of a run, and the largest of the summaries that are said to be valid.
struct Outcome {
    var pga = 0.0
    var pgv = 0.0
    var pgd = 0.0
    var arias = 0.0
    var cav = 0.0
    var mmi = 0.0
    var jma = -9.0
    /// Of the velocity, and of the acceleration; what has no event says nothing.
    var isValid = false
    var isExact = false
    var identity = ""
    var gaps = 0
    var missing = 0.0
    var likely = ""
    /// Ends of events; those taken for a disturbance.
    var ends = 0
    var disturbances = 0
    /// Over the summaries that say `valid`: largest velocity, and Mercalli intensity.
    var summaryVelocity = 0.0
    var summaryIntensity = 0.0
    var validSummaries = 0
    var summaries = 0

    init() {}

    /// - Parameter withJapan: with the Japanese intensity, whose transforms take most of the time.
    init(_ recording: Recording, _ seam: Seam, withJapan: Bool = true) throws {
        var configuration = Configuration()
        configuration.station.id = "gaps"
        configuration.spectrum.window = 3
        if !withJapan { configuration.intensity.scales.removeAll { $0 == .jma } }
        configuration.trace.enabled = false
        configuration.waveform.enabled = false
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: recording.rate), boot: "gaps")
        var found = Outcome()
        let sink: PublicationSink = { header, bytes in
            guard header.topic.hasSuffix("event/trigger") || header.topic.hasSuffix("state/summary") else { return }
            guard let json = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] else { return }
            found.take(json)
        }
        var i = 0
        var (isFirst, isChanged) = (true, false)
        if case .start(let at) = seam { i = at }
        while i < recording.count {
            var block = SampleBlock(capacity: 64)
            if case .gap(let at, let missing) = seam, i == at {
                (block.gapBefore, block.lostBefore) = (true, missing)
                i += missing
            }
            if case .change(let at) = seam, i >= at, !isChanged {
                isChanged = true
                configuration.conditioning.offset = .highpass(corner: 0.05, order: 2)
                try pipeline.reconfigure(configuration, revision: 2, to: sink)
            }
            block.gapBefore = block.gapBefore || isFirst
            isFirst = false
            block.time = 1_767_608_430_000_000_000 + Int64((Double(i) * 1e9 / recording.rate).rounded())
            var end = min(recording.count, i + 64)
            if case .gap(let at, _) = seam, i < at { end = min(end, at) }
            while i < end {
                block.append(recording.x[i], recording.y[i], recording.z[i])
                i += 1
            }
            pipeline.process(block, quality: .replay, to: sink)
        }
        pipeline.finish(to: sink)
        self = found
    }

    private static func intensity(_ json: [String: Any], _ scale: String) -> Double? {
        let all = json["intensity"] as? [[String: Any]]
        let one = all?.first { $0["scale"] as? String == scale }
        return (scale == "jma" ? one?["raw"] : one?["value"]) as? Double
    }

    private mutating func take(_ json: [String: Any]) {
        func number(_ name: String) -> Double { json[name] as? Double ?? 0 }
        guard let kind = json["event_type"] as? String else {
            summaries += 1
            guard json["valid"] as? Bool == true else { return }
            validSummaries += 1
            summaryVelocity = max(summaryVelocity, number("pgv"))
            summaryIntensity = max(summaryIntensity, Self.intensity(json, "mmi") ?? 0)
            return
        }
        guard kind == "end" else { return }
        ends += 1
        let kindOfEvent = (json["class"] as? [String: Any])?["likely"] as? String ?? ""
        if kindOfEvent == "disturbance" { disturbances += 1 }
        guard number("pga") > pga else { return }
        (pga, pgv, pgd, arias, cav) = (number("pga"), number("pgv"), number("pgd"), number("arias"), number("cav"))
        mmi = Self.intensity(json, "mmi") ?? 0
        jma = Self.intensity(json, "jma") ?? jma
        isValid = json["velocity_valid"] as? Bool ?? true
        identity = json["event_id"] as? String ?? ""
        gaps = json["gaps"] as? Int ?? 0
        missing = number("missing_s")
        isExact = json["acceleration_valid"] as? Bool ?? true
        likely = kindOfEvent
    }
}

/// The worst of each kind of seam.
struct Table {
    struct Row {
        var runs = 0
        var valid = 0
        /// Relative to the whole recording: of those said to be valid, and of all.
        var lower = 0.0
        var lowest = 0.0
        /// Runs whose velocity is within a tenth, whatever they say.
        var right = 0
        var upper = 0.0
        var largest = 0.0
        var displacement = 0.0
        var energy = 0.0
        var mercalli = 0.0
        var japan = 0.0
        /// Of those said to be exact, and how many those are; of all.
        var acceleration = 0.0
        var exact = 0
        var anyAcceleration = 0.0
        var split = 0
        /// Runs without any event.
        var missed = 0
        var disturbances = 0
        /// Of summaries said to be valid: largest velocity, relative to the whole recording.
        var summary = 0.0
        var quiet = 0.0

        /// Takes how far a velocity is from that of the whole recording, relative to it.
        mutating func take(_ v: Double, isValid: Bool) {
            runs += 1
            (lowest, largest) = (min(lowest, v), max(largest, v))
            if abs(v) <= 0.1 { right += 1 }
            guard isValid else { return }
            valid += 1
            (lower, upper) = (min(lower, v), max(upper, v))
        }
    }

    private(set) var rows: [(name: String, row: Row)] = []
    private(set) var faults: [String] = []
    /// As the station has it, m/s².
    private static let leastAcceleration = 1e-3
    /// Seconds; 0 stands for one sample.
    private let lengths = [0, 0.05, 0.2, 0.5, 1, 2, 5, 60]

    private mutating func change(_ name: String, _ body: (inout Row) -> Void) {
        if !rows.contains(where: { $0.name == name }) { rows.append((name, Row())) }
        for k in rows.indices where rows[k].name == name { body(&rows[k].row) }
    }

    mutating func play(_ recording: Recording, number: Int, seed: inout UInt64) throws {
        let whole = try Outcome(recording, .none)
        guard whole.ends > 0 else { throw Failure("\(recording.name): no event") }
        let strongest = Self.strongest(recording)
        let rate = recording.rate
        for seconds in lengths {
            let missing = max(1, Int((seconds * rate).rounded()))
            let name = seconds == 0 ? "gap 1 sample" : "gap \(seconds) s"
            let all = places(strongest, recording, missing, number, &seed)
            let found = try Self.outcomes(recording, all.map { .gap(at: $0, missing: missing) }, atOnce: number == 0)
            for (at, one) in zip(all, found) {
                judge(name, recording, whole, one, at: at, missing: missing, seconds: seconds)
            }
        }
        let all = places(strongest, recording, 1, number > 0 ? max(1, number / 2) : 0, &seed)
        let starts = try Self.outcomes(recording, all.map { .start(at: $0) }, atOnce: number == 0)
        let changes = try Self.outcomes(recording, all.map { .change(at: $0) }, atOnce: number == 0)
        for (k, at) in all.enumerated() {
            judgeRest("start in motion", recording, whole, starts[k], at: at)
            judgeRest("change in motion", recording, whole, changes[k], at: at)
        }
    }

    /// - Parameter atOnce: on all processors, and one in four with the Japanese intensity.
    private static func outcomes(_ recording: Recording, _ seams: [Seam], atOnce: Bool) throws -> [Outcome] {
        guard atOnce else { return try seams.map { try Outcome(recording, $0) } }
        let found = Mutex<[Int: Result<Outcome, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: seams.count) { k in
            let one = Result { try Outcome(recording, seams[k], withJapan: k % 4 == 0) }
            found.withLock { $0[k] = one }
        }
        return try found.withLock { all in try seams.indices.compactMap { try all[$0]?.get() } }
    }

    /// The sample with the largest acceleration of a horizontal.
    private static func strongest(_ recording: Recording) -> Int {
        let n = Double(max(1, recording.count))
        let (mx, my) = (recording.x.reduce(0, +) / n, recording.y.reduce(0, +) / n)
        return recording.x.indices.max {
            max(abs(recording.x[$0] - mx), abs(recording.y[$0] - my))
                < max(abs(recording.x[$1] - mx), abs(recording.y[$1] - my))
        } ?? 0
    }

    private func places(
        _ strongest: Int, _ recording: Recording, _ missing: Int, _ number: Int, _ seed: inout UInt64
    ) -> [Int] {
        let (rate, second) = (recording.rate, Int(recording.rate))
        let near = strongest - second / 2 - missing..<strongest + second / 2
        let event = strongest - 2 * second - missing..<strongest + 8 * second
        var found: [Int] = []
        if number == 0 {
            let step = missing > 2 * second ? max(1, second / 20) : 1
            found = near.filter { ($0 - near.lowerBound) % step == 0 }
            if missing > second {
                // (What covers the whole second is among the four a second.)
                found.removeAll { $0 >= near.lowerBound + second && $0 < near.upperBound - second }
            }
            found += stride(from: event.lowerBound, to: event.upperBound, by: max(1, Int(rate / 4)))
        } else {
            for k in 0..<number {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let range = k % 2 == 0 ? near : event
                found.append(range.lowerBound + Int(seed >> 33) % range.count)
            }
        }
        return Set(found).sorted().filter { $0 > Int(5 * rate) && $0 + missing + 2 * second < recording.count }
    }

    private mutating func judge(
        _ name: String, _ recording: Recording, _ whole: Outcome, _ found: Outcome, at: Int, missing: Int,
        seconds: Double
    ) {
        let place = "\(recording.name) \(name) at \(at)"
        let rest = Self.rest(recording, whole, without: at..<at + missing)
        let (v, d) = (found.pgv / whole.pgv - 1, found.pgd / whole.pgd - 1)
        let a = rest > 0 ? abs(found.pga / rest - 1) : 0
        let mmi = found.mmi - whole.mmi
        let isMissed = found.ends == 0
        let isSplit = !isMissed && (found.ends > whole.ends || found.gaps == 0)
        let summary = found.summaryVelocity / max(whole.summaryVelocity, whole.pgv) - 1
        change(name) { row in
            row.take(v, isValid: found.isValid)
            row.displacement = max(row.displacement, d)
            row.energy = max(row.energy, found.arias / whole.arias - 1, found.cav / whole.cav - 1)
            row.japan = max(row.japan, found.jma - whole.jma)
            row.anyAcceleration = max(row.anyAcceleration, a)
            if found.isExact {
                row.exact += 1
                row.acceleration = max(row.acceleration, a)
            }
            row.summary = max(row.summary, summary)
            if isSplit { row.split += 1 }
            if isMissed { row.missed += 1 }
            if found.disturbances > whole.disturbances { row.disturbances += 1 }
            if found.isValid { row.mercalli = max(row.mercalli, abs(mmi)) }
        }
        if summary > 0.1 { faults.append("\(place): a valid summary says PGV \(text(summary))") }
        if v > 0.1 { faults.append("\(place): PGV \(text(v))") }
        if seconds <= 2 {
            // (Longer ones may take the whole event.)
            if isMissed { faults.append("\(place): no event") }
            if isSplit { faults.append("\(place): \(found.ends) events instead of \(whole.ends)") }
            if found.isValid, v < (seconds <= 0.2 ? -0.1 : -0.25) { faults.append("\(place): PGV \(text(v)), valid") }
            if seconds <= 0.2, found.isValid, abs(mmi) > 0.15 { faults.append("\(place): MMI \(text(mmi)), valid") }
            // (The filter of the offset looks back over the estimate. An error below 1 mm/s² counts as none.)
            if a > 0.025, a * rest > Self.leastAcceleration, found.isExact {
                faults.append("\(place): PGA \(text(a)) off the rest's, exact")
            }
            if a > 0.125, !isMissed { faults.append("\(place): PGA \(text(a)) off the rest's") }
            if abs(found.missing - Double(missing) / recording.rate) > 1e-3, !isSplit, !isMissed {
                faults.append("\(place): missing_s \(found.missing)")
            }
        }
        if found.disturbances > whole.disturbances { faults.append("\(place): a disturbance") }
    }

    private mutating func judgeRest(
        _ name: String, _ recording: Recording, _ whole: Outcome, _ found: Outcome, at: Int
    ) {
        let v = found.pgv / whole.pgv - 1
        let summary = found.summaryVelocity / max(whole.summaryVelocity, whole.pgv) - 1
        change(name) { row in
            row.take(v, isValid: found.isValid)
            row.summary = max(row.summary, summary)
            let a = found.pga / whole.pga - 1
            row.anyAcceleration = max(row.anyAcceleration, a)
            if found.isExact {
                row.exact += 1
                row.acceleration = max(row.acceleration, a)
            }
            if found.disturbances > whole.disturbances { row.disturbances += 1 }
            row.quiet += Double(found.summaries - found.validSummaries)
        }
        if summary > 0.1 {
            faults.append("\(recording.name) \(name) at \(at): a valid summary says PGV \(text(summary))")
        }
        // (What begins with the recording is told as it is defined, and said not to be certain.)
        if v > 0.1, found.isValid { faults.append("\(recording.name) \(name) at \(at): PGV \(text(v)), valid") }
        if found.pga > 1.025 * whole.pga, found.isExact {
            faults.append("\(recording.name) \(name) at \(at): PGA \(text(found.pga / whole.pga - 1)), exact")
        }
        if found.disturbances > whole.disturbances {
            faults.append("\(recording.name) \(name) at \(at): a disturbance")
        }
    }

    /// The largest acceleration of the event without some samples: the whole event's where it is not among them.
    private static func rest(_ recording: Recording, _ whole: Outcome, without gap: Range<Int>) -> Double {
        let peak = strongest(recording)
        // (Beside the very peak the next largest is not told by a message.)
        return gap.contains(peak) || gap.count > Int(2 * recording.rate) ? 0 : whole.pga
    }

    private func text(_ value: Double) -> String { String(format: "%+.3f", value) }

    func print() {
        Swift.print(
            "seam              runs valid% right%  pgv valid -     +     all -      +     pgd +  arias,cav + |mmi| valid  jma +  exact%  pga off     all  split missed  disturb.  summary pgv +"
        )
        for (name, row) in rows {
            let share = 100 * Double(row.valid) / Double(max(1, row.runs))
            Swift.print(
                name.padding(toLength: 17, withPad: " ", startingAt: 0)
                    + String(
                        format:
                            "%5d %6.1f %6.1f      %+.3f %+.3f  %+.3f %+.3f  %+.3f       %+.3f        %.3f  %+.2f  %6.1f  %.5f %.5f  %5d  %5d  %8d  %+.3f",
                        row.runs, share, 100 * Double(row.right) / Double(max(1, row.runs)), row.lower, row.upper,
                        row.lowest, row.largest, row.displacement, row.energy, row.mercalli,
                        row.japan, 100 * Double(row.exact) / Double(max(1, row.runs)), row.acceleration,
                        row.anyAcceleration, row.split, row.missed, row.disturbances, row.summary))
        }
    }
}
