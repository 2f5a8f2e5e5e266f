import Measure
import SignalProcessing

/// What decimation of nine signals costs by some factors, beside a prime one that must be done in a single stage.
enum Decimation {
    static func reportCost() {
        let factors = [5, 10, 50, 100]
        var runs: [Int: [Double]] = [:]
        var decimators = (factors + [97]).map {
            ($0, Decimator(filter: DecimationFilter(factor: $0), lanes: 9, chunk: 100))
        }
        let input = (0..<100).map { Double($0 % 7) }
        var output = [Double](repeating: 0, count: 100 * 10)
        for _ in 0..<9 {
            for k in decimators.indices {
                let taken = nanoseconds {
                    for _ in 0..<1000 {
                        for lane in 0..<9 { decimators[k].1.load(input, lane: lane, count: 100) }
                        _ = decimators[k].1.run(100, into: &output)
                    }
                }
                runs[decimators[k].0, default: []].append(taken / 1e5)
            }
        }
        let single = runs[97] ?? []
        report("decimation_single_ns", median(single))
        for q in factors {
            report("decimation_\(q)_to_single", median(zip(runs[q] ?? [], single).map { $0 / $1 }))
        }
    }
}
