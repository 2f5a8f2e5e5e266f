import CMeasure
import Foundation

/// Processor time of this thread for a body, in nanoseconds.
public func nanoseconds(_ body: () -> Void) -> Double {
    let start = thread_nanoseconds()
    body()
    return Double(thread_nanoseconds() - start)
}

/// Calls of the allocator during a body.
public func heapCalls(_ body: () -> Void) -> Int {
    heap_count_start()
    body()
    return Int(heap_count_stop())
}

public func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Prints one line: `name value`.
public func report(_ name: String, _ value: Double) {
    print(name.padding(toLength: 28, withPad: " ", startingAt: 0), String(format: "%.4g", value))
}
