/// Smallest and largest of the last N samples of one signal; while fewer have come, of those.
///
/// The work per sample does not depend on N: as in ``SlidingSum`` the window is cut at places N samples apart; what came
/// since the cut is a running extreme, what came before it has been made into extremes from each place to the cut (van
/// Herk, A fast algorithm for local minimum and maximum filters, Pattern Recognition Letters 13, 1992). Samples must be
/// numbers.
public struct SlidingExtremes: Sendable {
    /// Window length N in samples, at least 1.
    public let length: Int
    /// Before the cut: extremes to the cut; after it, as they come: samples. The last place stands for no sample.
    private var lows: [Double]
    private var highs: [Double]
    private var position = 0
    private var low = Double.infinity
    private var high = -Double.infinity

    /// - Parameter window: N in samples.
    public init(window: Int) {
        length = max(1, window)
        lows = [Double](repeating: .infinity, count: length + 1)
        highs = [Double](repeating: -.infinity, count: length + 1)
    }

    /// Forgets all samples.
    public mutating func reset() {
        position = 0
        (low, high) = (.infinity, -.infinity)
        for i in lows.indices { (lows[i], highs[i]) = (.infinity, -.infinity) }
    }

    /// Writes the extremes at each of `count` samples of `input`; an output may be the same memory as the input.
    public mutating func process(
        _ input: UnsafePointer<Double>, minimum: UnsafeMutablePointer<Double>, maximum: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        var done = 0
        while done < count {
            let end = min(count, done + length - position)
            let shift = position - done
            var (low, high) = (self.low, self.high)
            lows.withUnsafeMutableBufferPointer { lows in
                highs.withUnsafeMutableBufferPointer { highs in
                    for i in done..<end {
                        let x = input[i]
                        low = x < low ? x : low
                        high = x > high ? x : high
                        let (before, above) = (lows[i + shift + 1], highs[i + shift + 1])
                        (lows[i + shift], highs[i + shift]) = (x, x)
                        minimum[i] = before < low ? before : low
                        maximum[i] = above > high ? above : high
                    }
                }
            }
            (self.low, self.high) = (low, high)
            position += end - done
            done = end
            if position == length { cut() }
        }
    }

    /// Replaces the samples of a full ring by the extremes from each place to the end.
    private mutating func cut() {
        position = 0
        (low, high) = (.infinity, -.infinity)
        var i = length - 2
        lows.withUnsafeMutableBufferPointer { lows in
            highs.withUnsafeMutableBufferPointer { highs in
                while i >= 0 {
                    if lows[i + 1] < lows[i] { lows[i] = lows[i + 1] }
                    if highs[i + 1] > highs[i] { highs[i] = highs[i + 1] }
                    i -= 1
                }
            }
        }
    }
}
