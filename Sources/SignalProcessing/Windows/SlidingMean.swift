/// Mean of the last N samples of one signal; while fewer have come, of those. Exact for ever, see ``SlidingSum``.
public struct SlidingMean: Sendable {
    private var sum: SlidingSum

    /// - Parameter window: N in samples.
    public init(window: Int) { sum = SlidingSum(length: window) }

    /// Forgets all samples.
    public mutating func reset() { sum.reset() }

    /// Writes the mean at each of `count` samples of `input` to `output`, which may be the same memory.
    public mutating func process(
        _ input: UnsafePointer<Double>, _ output: UnsafeMutablePointer<Double>, count: Int
    ) {
        sum.run(count, { input[$0] }, { output[$0] = $1 / Double($2) })
    }
}
