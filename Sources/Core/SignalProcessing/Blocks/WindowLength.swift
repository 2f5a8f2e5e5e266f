/// A length of time given by a person: in seconds, or as a bare number of samples.
public enum WindowLength: Sendable, Equatable {
    /// Seconds; becomes round(seconds × rate) samples, halves to the even number, at least 1.
    case seconds(Double)
    /// Samples, at least 1.
    case samples(Int)

    /// The number of samples at a rate in Hz, at least 1.
    public func samples(at rate: Double) -> Int {
        switch self {
        case .seconds(let s):
            let n = (s * rate).rounded(.toNearestOrEven)
            return n >= 1 ? Int(min(n, 1e15)) : 1
        case .samples(let n): return max(1, n)
        }
    }
}
