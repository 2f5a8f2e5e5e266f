import CMeasure
import Foundation
import Measure
import Messages
import Seismology
import Settings
import SignalProcessing
import Station

/// Measures what the path of a sample costs, beside the same work by hand in C, and prints one `name value` per line.
@main
struct Cost {
    static let rounds = 11
    static let passesPerRound = 3
    static let sensor = StationSensor(rate: Ground.rate, range: 2 * standardGravity)

    static func main() throws {
        let ground = Ground()
        var standard = Configuration()
        standard.station.id = "cost"
        standard.conditioning.settle = 10
        // What is done at each sample: without the Fourier transforms of a second, but for a short one.
        var plain = standard
        plain.intensity.scales = [.worden12]
        plain.spectrum.window = 3
        // Samples without messages, but for the summary once a second: traces are decimated, and sent in events alone.
        var silent = plain
        silent.trace.onlyInEvents = true
        // The same without a class and an estimate, and with the alarm.
        var unjudged = silent
        (unjudged.classification.enabled, unjudged.onsite.enabled) = (false, false)
        var alarmed = silent
        alarmed.alarm.enabled = true
        // Vibration in a band that this rate carries, and the motion that modes are found in (which another thread does).
        var vibrating = silent
        (vibrating.vibration.enabled, vibrating.vibration.band) = (true, .own)
        (vibrating.vibration.lower, vibrating.vibration.upper) = (1, 40)
        var moving = silent
        moving.vibration.modes = true
        var everything = standard
        everything.detection.peak.enabled = true
        everything.detection.movement.enabled = true
        everything.intensity.scales = IntensityRelation.allCases

        let agreement = try Agreement(plain, sensor, ground)
        guard agreement.events > 0 else { throw Failure(description: "the quake was not noticed") }
        guard agreement.spikes == 0 else { throw Failure(description: "the ground has spikes, which the C leaves in") }
        let furthest = agreement.worst.max { $0.error < $1.error } ?? ("nothing", .infinity)
        guard agreement.worst.allSatisfy({ $0.error < 1e-9 }) else {
            throw Failure(
                description: "the chain in C does other work: \(agreement.worst.filter { !($0.error < 1e-9) })")
        }

        var full = try Run(plain, ground)
        var defaults = try Run(standard, ground)
        var chain = try Run(silent, ground)
        var without = try Run(unjudged, ground)
        var alarm = try Run(alarmed, ground)
        var vibration = try Run(vibrating, ground)
        var modes = try Run(moving, ground)
        var all = try Run(everything, ground)
        let c = try Chain(standard, sensor: sensor, messages: .all)
        let cChain = try Chain(standard, sensor: sensor, messages: .summary)

        // Warm-up: buffers grow to their final size within the first events.
        for _ in 0..<3 {
            full.pass()
            chain.pass(ground.quiet)
            without.pass(ground.quiet)
            alarm.pass(ground.quiet)
            vibration.pass(ground.quiet)
            modes.pass(ground.quiet)
            defaults.pass()
            all.pass()
            ground.pass(0) { c.process($0) }
            ground.pass(0, ground.quiet) { cChain.process($0) }
        }
        let (passes, messages, bytes) = (full.passes, full.messages, full.bytes)

        // The short transform of a second, which the C does not do, by itself.
        let seconds = 100
        var spectrum = DominantFrequency(rate: Ground.rate, longest: 300, lowest: plain.spectrum.lowest)
        var times = Times()
        let (quiet, samples) = (ground.quiet.count * Ground.blockLength, ground.sampleCount)
        for _ in 0..<rounds {
            times.add("pipeline", samples) { full.pass() }
            times.add("c", samples) { ground.pass(0) { c.process($0) } }
            times.add("chain", quiet) { chain.pass(ground.quiet) }
            times.add("unjudged", quiet) { without.pass(ground.quiet) }
            times.add("alarmed", quiet) { alarm.pass(ground.quiet) }
            times.add("vibration", quiet) { vibration.pass(ground.quiet) }
            times.add("modes", quiet) { modes.pass(ground.quiet) }
            times.add("c_chain", quiet) { ground.pass(0, ground.quiet) { cChain.process($0) } }
            times.add("transform", seconds * Int(Ground.rate)) { for _ in 0..<seconds { transform(&spectrum) } }
            times.add("standard", samples) { defaults.pass() }
            times.add("everything", samples) { all.pass() }
        }
        let taken = full.passes - passes

        // In quiet: samples, summaries and traces. In the quake: the event with its messages and its waveform besides.
        let quietCalls = heapCalls { defaults.pass(ground.quiet) } - heapCalls { ground.pass(0, ground.quiet) { _ in } }
        // (With the message of an interval of a minute.)
        let minute = ground.blocks.indices.prefix(60 * Int(Ground.rate) / Ground.blockLength)
        let vibrationCalls = heapCalls { vibration.pass(minute) } - heapCalls { chain.pass(minute) }
        let modesCalls = heapCalls { modes.pass(ground.quiet) } - heapCalls { chain.pass(ground.quiet) }
        let eventCalls =
            heapCalls { defaults.pass(ground.shaken) } - heapCalls { ground.pass(0, ground.shaken) { _ in } }
        guard heapCalls(heap_probe) == 2 else {
            throw Failure(description: "the counter of allocator calls does not count")
        }

        print("differs most from the C in", furthest.name, String(format: "by %.1e", furthest.error))
        for name in ["chain", "transform", "c_chain", "pipeline", "c", "standard", "everything"] {
            report("\(name)_ns", median(times[name]))
        }
        // What class and estimate add to each sample, and what they and the alarm do.
        report("assessment_ns", median(zip(times["chain"], times["unjudged"]).map { $0 - $1 }))
        report(
            "assessment_to_c",
            median(zip(zip(times["chain"], times["unjudged"]), times["c_chain"]).map { ($0.0 - $0.1) / $1 }))
        report("assessment_with_alarm_ns", median(zip(times["alarmed"], times["unjudged"]).map { $0 - $1 }))
        report("vibration_ns", median(zip(times["vibration"], times["chain"]).map { $0 - $1 }))
        report("modes_ns", median(zip(times["modes"], times["chain"]).map { $0 - $1 }))
        report("vibration_heap_calls", Double(vibrationCalls) / (60 * Ground.rate))
        report("modes_heap_calls", Double(modesCalls) / Double(quiet))
        // Without what the C does not do, which is measured by itself: the short transform, class and estimate.
        let others = zip(zip(times["chain"], times["unjudged"]), times["transform"]).map { $0.0 - $0.1 + $1 }
        func toC(_ ours: String, _ c: String) -> Double {
            median(zip(zip(times[ours], others), times[c]).map { ($0.0 - $0.1) / $1 })
        }
        report("chain_to_c", toC("chain", "c_chain"))
        report("pipeline_to_c", toC("pipeline", "c"))
        report("chain_with_all_to_c", times.ratio("chain", "c_chain"))
        report("pipeline_with_all_to_c", times.ratio("pipeline", "c"))
        report("everything_to_standard", times.ratio("everything", "standard"))
        Decimation.reportCost()
        report("pipeline_heap_calls", Double(quietCalls) / Double(quiet))
        report("event_heap_calls", Double(eventCalls))
        report("messages_per_sample", Double(full.messages - messages) / Double(taken * samples))
        report("bytes_per_sample", Double(full.bytes - bytes) / Double(taken * samples))
        report("real_time_channels_100hz", 1e9 / median(times["standard"]) / Ground.rate)
    }

    /// The strongest frequency of three seconds.
    static func transform(_ spectrum: inout DominantFrequency) {
        spectrum.begin(count: 300)
        while !spectrum.step({ axis, target in
            for i in 0..<300 { target[i] = Double((i * (axis + 7)) % 31) }
        }) {}
    }

    /// Nanoseconds per sample of each round, by name.
    struct Times {
        private var rounds: [String: [Double]] = [:]

        subscript(name: String) -> [Double] { rounds[name] ?? [] }

        mutating func add(_ name: String, _ samples: Int, _ body: () -> Void) {
            let taken = nanoseconds { for _ in 0..<Cost.passesPerRound { body() } }
            rounds[name, default: []].append(taken / Double(Cost.passesPerRound * samples))
        }

        /// Of times taken one after the other.
        func ratio(_ a: String, _ b: String) -> Double { median(zip(self[a], self[b]).map { $0 / $1 }) }
    }

    /// One pipeline and what it has sent.
    struct Run: ~Copyable {
        private var pipeline: StationPipeline
        private let ground: Ground
        private(set) var passes = 0
        private(set) var messages = 0
        private(set) var bytes = 0
        private var time: Int64 = 0

        init(_ configuration: Configuration, _ ground: Ground) throws {
            self.ground = ground
            pipeline = try StationPipeline(
                configuration: configuration, sensor: Cost.sensor, boot: "00000000-0000-4000-8000-000000000000")
        }

        /// Some of the ground's blocks, or all.
        mutating func pass(_ range: Range<Int>? = nil) {
            var block = ground.blocks[0]
            for index in range ?? ground.blocks.indices {
                block = ground.blocks[index]
                block.time = time
                time += Int64(Double(Ground.blockLength) / Ground.rate * 1e9)
                pipeline.process(block, quality: .replay) { _, payload in
                    messages += 1
                    bytes += payload.count
                }
            }
            passes += 1
        }
    }
}
