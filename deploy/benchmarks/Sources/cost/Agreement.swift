import CMeasure
import Foundation
import Settings
import SignalProcessing
import Station

/// What the pipeline and the chain in C make of the same samples, sample by sample, to see that the same work is compared.
struct Agreement {
    /// The largest difference of each series and of the last summary, event and trace, over the largest value.
    private(set) var worst: [(name: String, error: Double)] = []
    private(set) var events = 0
    private(set) var spikes = 0

    init(_ configuration: Configuration, _ sensor: StationSensor, _ ground: Ground) throws {
        var pipeline = try StationPipeline(configuration: configuration, sensor: sensor, boot: "agreement")
        let chain = try Chain(configuration, sensor: sensor, messages: .none)
        var series = Series()
        let column = pipeline.ratioColumns.first
        pipeline.onSeries = { series.take($0, column) }
        var summary: [String: Any] = [:]
        var (event, trace) = (summary, summary)
        let one = blocksOfOne(ground)
        for block in one {
            pipeline.process(block, quality: .replay) { header, payload in
                func object() -> [String: Any] {
                    (try? JSONSerialization.jsonObject(with: Data(payload))) as? [String: Any] ?? [:]
                }
                if header.topic.hasSuffix("/state/summary") { summary = object() }
                if header.topic.hasSuffix("/event/last") { event = object() }
                if header.topic.hasSuffix("/data/trace") { trace = object() }
            }
            chain.process(block)
            series.compare(chain.outputs)
        }
        // The last second's summary may still be in the making.
        pipeline.finish { header, payload in
            guard header.topic.hasSuffix("/state/summary") else { return }
            summary = (try? JSONSerialization.jsonObject(with: Data(payload))) as? [String: Any] ?? [:]
        }
        let c = chain.outputs
        (events, spikes) = (Int(c.events), Int(c.spikes))
        worst = series.errors
        func number(_ object: [String: Any], _ path: String) -> Double {
            var value: Any? = object
            for key in path.split(separator: ".") { value = (value as? [String: Any])?[String(key)] }
            return value as? Double ?? .nan
        }
        func add(_ name: String, _ ours: Double, _ theirs: Double) {
            worst.append((name, abs(ours - theirs) / max(abs(theirs), .leastNormalMagnitude)))
        }
        // A summary has 32-bit floats: the same one, or its neighbour where the double lies between two.
        func addSingle(_ name: String, _ ours: Double, _ theirs: Double) {
            let steps = abs(Float(ours) - Float(theirs)) / Float(theirs).ulp
            worst.append((name, steps <= 1 ? 0 : .infinity))
        }
        let (rms, peak, rsam) = (values(c.summary.rms), values(c.summary.peak), values(c.summary.rsam))
        for (k, name) in ["x", "y", "z", "h", "v3"].enumerated() {
            addSingle("summary \(name) rms", number(summary, "\(name).rms"), rms[k])
            addSingle("summary \(name) peak", number(summary, "\(name).peak"), peak[k])
            addSingle("summary \(name) rsam", number(summary, "\(name).rsam"), rsam[k])
            add("event \(name) peak", number(event, "peaks.\(name).value"), values(c.event.peak)[k])
        }
        addSingle("summary pgv", number(summary, "pgv"), c.summary.pgv)
        add("event pgv", number(event, "pgv"), c.event.pgv)
        add("event cav", number(event, "cav"), max(c.event.absolute.0, c.event.absolute.1))
        let squares = max(c.event.squares.0, c.event.squares.1)
        add("event arias", number(event, "arias"), Double.pi / (2 * standardGravity) * squares)
        for (k, axis) in ["x", "y", "z"].enumerated() {
            for (j, signal) in ["raw", "filtered", "rms"].enumerated() {
                let ours = (trace[axis] as? [String: Any])?[signal] as? [Double] ?? []
                let theirs = withUnsafeBytes(of: c.trace) {
                    Array($0.bindMemory(to: Double.self)[(3 * j + k) * 64..<(3 * j + k) * 64 + 20])
                }
                let largest = theirs.map(abs).max() ?? 1
                let off = zip(ours, theirs).map { abs($0 - $1) }.max() ?? .infinity
                // Traces are published with the seven digits of a Float.
                worst.append(("trace \(axis) \(signal) (of 1e-7)", ours.count == 20 ? off / largest * 1e-2 : .infinity))
            }
        }
    }

    private func values<T>(_ tuple: T) -> [Double] {
        withUnsafeBytes(of: tuple) { Array($0.bindMemory(to: Double.self)) }
    }

    private func blocksOfOne(_ ground: Ground) -> [SampleBlock] {
        ground.blocks.flatMap { block in
            (0..<block.count).map { i in
                var one = SampleBlock(capacity: 1)
                one.time = block.time + Int64(i) * Int64(1e9 / Ground.rate)
                one.append(block[0, i], block[1, i], block[2, i])
                return one
            }
        }
    }

    /// The last sample of the pipeline's series, and how far it has been from the chain's.
    private struct Series {
        private var last: [Double] = []
        private var triggered: [UInt8] = []
        private var largest = [Double](repeating: 0, count: 7)
        private var off = [Double](repeating: 0, count: 7)
        private var otherFlags = 0

        mutating func take(_ chunk: SeriesChunk, _ column: RatioColumn?) {
            let k = chunk.count - 1
            last =
                (0..<3).map { chunk.filtered[$0 * chunk.stride + k] } + (0..<3).map { chunk.rms[$0 * chunk.stride + k] }
            last.append(column.map { chunk.ratio($0)[k] } ?? .nan)
            triggered = (0..<3).map { chunk.triggered[$0 * chunk.stride + k] }
        }

        mutating func compare(_ c: chain_outputs) {
            let theirs = [
                c.filtered.0, c.filtered.1, c.filtered.2, c.rms.0, c.rms.1, c.rms.2, c.ratio,
            ]
            for k in 0..<7 {
                largest[k] = max(largest[k], abs(theirs[k]))
                off[k] = max(off[k], abs(last[k] - theirs[k]))
            }
            for k in 0..<3 where triggered[k] != UInt8(c.triggered >> k & 1) { otherFlags += 1 }
        }

        var errors: [(String, Double)] {
            let names = ["filtered x", "filtered y", "filtered z", "rms x", "rms y", "rms z", "sta/lta"]
            return zip(names, zip(off, largest).map { $0 / $1 }) + [("trigger flags", Double(otherFlags))]
        }
    }
}

private func + (a: Zip2Sequence<[String], [Double]>, b: [(String, Double)]) -> [(String, Double)] {
    a.map { ($0, $1) } + b
}
