/// Root mean square of the last N samples of one axis; while fewer have come, of those (as in Shake's JdRMS).
public struct SlidingRMS: Sendable {
    private var squares: SlidingSum

    /// - Parameter window: N in samples.
    public init(window: Int) { squares = SlidingSum(length: window) }

    public mutating func reset() { squares.reset() }

    /// Writes the RMS at each of `count` samples of `input` to `output`.
    public mutating func process(
        _ input: UnsafePointer<Double>, _ output: UnsafeMutablePointer<Double>, count: Int
    ) {
        for i in 0..<count {
            let sum = squares.push(input[i] * input[i])
            output[i] = (sum / Double(squares.count)).squareRoot()
        }
    }
}
