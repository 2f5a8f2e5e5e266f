/// Root mean square of the last N samples of one axis; while fewer have come, of those (as in Shake's JdRMS).
public struct SlidingRMS: Sendable {
    private var squares: SlidingSum

    /// - Parameter window: N in samples.
    public init(window: Int) { squares = SlidingSum(length: window) }

    /// Forgets all samples.
    public mutating func reset() { squares.reset() }

    /// Writes the RMS at each of `count` samples of `input` to `output`.
    public mutating func process(
        _ input: UnsafePointer<Double>, _ output: UnsafeMutablePointer<Double>, count: Int
    ) {
        squares.run(count, { input[$0] * input[$0] }, { output[$0] = ($1 / Double($2)).squareRoot() })
    }
}
