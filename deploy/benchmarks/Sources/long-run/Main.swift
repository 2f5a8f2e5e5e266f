import Foundation
import Measure
import SignalProcessing

/// Pushes a thousand million samples through the sliding windows and compares each of them, now and then and at the end,
/// with what the definition gives of the window's samples; and measures what a sample costs for short and long windows.
/// Prints one `name value` per line.
@main
struct LongRun {
    static let chunk = 4096

    static func main() {
        let samples = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 1_000_000_000 : 1_000_000_000
        drift(samples)
        cost()
    }

    /// Sample `i` of a signal that is never kind to a running sum: noise whose offset and size jump between a millionth
    /// and a million at odd places.
    @inline(__always)
    static func signal(_ i: Int) -> Double {
        var z = UInt64(truncatingIfNeeded: i) &* 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 29)) &* 0xbf58_476d_1ce4_e5b9
        let noise = Double((z ^ (z >> 32)) >> 11) / 9_007_199_254_740_992 - 0.5
        switch (i / 777_777) % 5 {
        case 0: return 9.80665 + 1e-3 * noise
        case 1: return 1e6 * (1 + noise)
        case 2: return 1e-6 * (2 + noise)
        case 3: return -3 + noise
        default: return 5e3 + 1e-2 * noise
        }
    }

    static func drift(_ samples: Int) {
        let window = 1000
        var rms = SlidingRMS(window: window)
        var sum = SlidingSum(length: window)
        var input = [Double](repeating: 0, count: chunk)
        var roots = input
        var total = 0.0
        var worst = (rms: 0.0, sum: 0.0)
        var checks = 0
        var start = 0
        while start < samples {
            let n = min(chunk, samples - start)
            for i in 0..<n { input[i] = signal(start + i) }
            rms.process(input, &roots, count: n)
            for i in 0..<n { total = sum.push(input[i]) }
            start += n
            // Twenty thousand times, and at the end.
            guard start == samples || (start / chunk) % max(1, samples / chunk / 20_000) == 0, start >= window else {
                continue
            }
            checks += 1
            let expected = definition(start - window..<start)
            worst.rms = max(worst.rms, abs(roots[n - 1] / expected.rms - 1))
            worst.sum = max(worst.sum, abs(total / expected.sum - 1))
        }
        report("samples", Double(samples))
        report("comparisons", Double(checks))
        report("rms_error", worst.rms)
        report("sum_error", worst.sum)
    }

    /// From the window alone, with sums in twice the precision.
    static func definition(_ range: Range<Int>) -> (rms: Double, sum: Double) {
        var (sum, squares) = (Pair(), Pair())
        for i in range {
            let x = signal(i)
            sum.add(x)
            squares.add(x * x)
        }
        let n = Double(range.count)
        return ((squares.value / n).squareRoot(), sum.value)
    }

    /// A sum in two numbers.
    struct Pair {
        var high = 0.0
        var low = 0.0
        var value: Double { high + low }
        mutating func add(_ x: Double) {
            let sum = high + x
            let part = sum - high
            low += (high - (sum - part)) + (x - part)
            high = sum
        }
    }

    static func cost() {
        let input = (0..<chunk).map { signal($0) }
        var output = input
        let windows = [10, 1000, 100_000, 1_000_000]
        var costs: [Double] = []
        for window in windows {
            var rms = SlidingRMS(window: window)
            // Full windows and whole numbers of cuts.
            let passes = 4_000_000 / chunk
            let pass = { rms.process(input, &output, count: chunk) }
            for _ in 0..<passes { pass() }
            costs.append(
                median((0..<5).map { _ in nanoseconds { for _ in 0..<passes { pass() } } }) / Double(passes * chunk))
        }
        for (window, ns) in zip(windows, costs) { report("rms_ns_\(window)", ns) }
        report("rms_longest_to_shortest", (costs.last ?? 0) / (costs.first ?? 1))
    }
}
