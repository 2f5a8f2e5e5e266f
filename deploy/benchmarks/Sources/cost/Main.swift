import CMeasure
import Foundation
import Measure
import Messages
import Settings
import SignalProcessing
import Station

/// Measures what the full path of a sample costs, and prints one `name value` per line.
@main
struct Cost {
    static let rounds = 15
    static let passesPerRound = 5

    static func main() throws {
        let ground = Ground()
        var configuration = Configuration()
        configuration.station.id = "cost"
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: Ground.rate, range: 2 * standardGravity),
            boot: "00000000-0000-4000-8000-000000000000")
        guard let chain = reference_chain_new(100) else { throw CocoaError(.coderInvalidValue) }
        defer { reference_chain_free(chain) }
        var pass = 0
        var messages = 0
        var bytes = 0
        var above = 0

        func run(_ range: Range<Int>) {
            ground.pass(pass, range) { block in
                pipeline.process(block, quality: .replay) { _, payload in
                    messages += 1
                    bytes += payload.count
                }
            }
        }
        func runPipeline() {
            run(ground.blocks.indices)
            pass += 1
        }
        func runReference() {
            ground.pass(0) { block in
                _ = block.withPlanes { x, y, z, count in
                    above += Int(reference_chain_process(chain, x, y, z, Int32(count)))
                }
            }
        }

        // Warm-up: buffers grow to their final size within the first events.
        for _ in 0..<3 {
            runPipeline()
            runReference()
        }
        let warm = (pass, messages, bytes)

        var ours: [Double] = []
        var theirs: [Double] = []
        let perRound = Double(passesPerRound * ground.sampleCount)
        for _ in 0..<rounds {
            ours.append(nanoseconds { for _ in 0..<passesPerRound { runPipeline() } } / perRound)
            theirs.append(nanoseconds { for _ in 0..<passesPerRound { runReference() } } / perRound)
        }
        let passes = pass - warm.0
        let messagesPerPass = Double(messages - warm.1) / Double(passes)
        let bytesPerPass = Double(bytes - warm.2) / Double(passes)

        // In quiet: samples, summaries and traces. In the quake: the event with its messages and its waveform besides.
        let quietCalls = heapCalls { run(ground.quiet) } - heapCalls { ground.pass(0, ground.quiet) { _ in } }
        let eventCalls = heapCalls { run(ground.shaken) } - heapCalls { ground.pass(0, ground.shaken) { _ in } }
        guard heapCalls(heap_probe) == 2 else { throw Failure(description: "the counter of heap calls does not count") }
        guard above > 0, messages > 0 else { throw Failure(description: "the quake was not noticed") }

        report("pipeline_ns", median(ours))
        report("reference_ns", median(theirs))
        report("pipeline_to_reference", median(zip(ours, theirs).map { $0 / $1 }))
        report("pipeline_heap_calls", Double(quietCalls) / Double(ground.quiet.count * Ground.blockLength))
        report("event_heap_calls", Double(eventCalls))
        report("messages_per_sample", messagesPerPass / Double(ground.sampleCount))
        report("bytes_per_sample", bytesPerPass / Double(ground.sampleCount))
        report("real_time_channels_100hz", 1e9 / median(ours) / Ground.rate)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
