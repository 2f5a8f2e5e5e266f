/// Streaming decimation of one signal by an integer factor with a linear-phase FIR.
///
/// Output k lies at input sample k × factor after a start or a reset: the filter's delay is waited for, not shifted
/// into the signal, so that a decimated trace lies on the original. Before the first and after the last sample the
/// signal is continued by its end value, so that a constant (gravity) gives no ramp.
public struct Decimator: Sendable {
    public let filter: DecimationFilter
    /// Twice the window, so that the last `window` samples are always contiguous.
    private var history: [Double]
    private let window: Int
    private var position = 0
    private var started = false
    /// Samples to come before the next output.
    private var wait: Int

    public init(filter: DecimationFilter) {
        self.filter = filter
        window = 2 * filter.halfLength + 1
        history = [Double](repeating: 0, count: 2 * window)
        wait = filter.halfLength
    }

    /// Forgets all samples: the next one is output 0's place.
    public mutating func reset() {
        position = 0
        started = false
        wait = filter.halfLength
    }

    /// Takes one sample and returns an output when one is complete.
    public mutating func push(_ value: Double) -> Double? {
        if !started {
            started = true
            for i in history.indices { history[i] = value }
        }
        history[position] = value
        history[position + window] = value
        position += 1
        if position == window { position = 0 }
        guard wait == 0 else {
            wait -= 1
            return nil
        }
        wait = filter.factor - 1
        return convolve()
    }

    /// Takes the last sample once more; `halfLength` times after the end of a signal let out all outputs up to it.
    public mutating func repeatLast() -> Double? {
        guard started else { return nil }
        return push(history[position + window - 1])
    }

    private func convolve() -> Double {
        let half = filter.halfLength
        // The newest sample lies just before `position + window`; the centre lies `half` before it.
        let centre = position + window - 1 - half
        return history.withUnsafeBufferPointer { history in
            filter.coefficients.withUnsafeBufferPointer { taps in
                // Four sums side by side, so that no addition waits for the one before; their order is fixed.
                var (a, b, c, d) = (0.0, 0.0, 0.0, 0.0)
                var n = half
                while n >= 4 {
                    a += taps[n] * (history[centre - n] + history[centre + n])
                    b += taps[n - 1] * (history[centre - n + 1] + history[centre + n - 1])
                    c += taps[n - 2] * (history[centre - n + 2] + history[centre + n - 2])
                    d += taps[n - 3] * (history[centre - n + 3] + history[centre + n - 3])
                    n -= 4
                }
                while n > 0 {
                    a += taps[n] * (history[centre - n] + history[centre + n])
                    n -= 1
                }
                return taps[0] * history[centre] + ((a + b) + (c + d))
            }
        }
    }
}
