/// Time of every sample of an unbroken stretch, from its number: the same whatever blocks the samples came in.
public struct SampleClock: Sendable, Equatable {
    private var anchorTime: Int64
    private var anchorIndex = 0
    private var interval: Double

    /// Samples between two anchors; a product of interval and number stays exact to far below a nanosecond.
    private static let stretch = 1 << 20
    /// A block whose time differs from the count by no more than this is taken to follow the count (ns).
    private static let tolerance: Int64 = 2_000

    /// A time that clocks can reckon with: from 1827 to 2112. What a recording says may be anything.
    static func bounded(_ time: Int64) -> Int64 {
        min(max(time, -4_500_000_000_000_000_000), 4_500_000_000_000_000_000)
    }

    /// - Parameters:
    ///   - time: of sample 0, nanoseconds of UTC.
    ///   - rate: samples per second.
    public init(time: Int64, rate: Double) {
        anchorTime = time
        interval = 1e9 / rate
    }

    /// Time of a sample, nanoseconds of UTC.
    public func time(_ index: Int) -> Int64 {
        anchorTime + Int64((Double(index - anchorIndex) * interval).rounded())
    }

    /// Times of `count` samples from the one of this number on.
    func times(from index: Int, count: Int, to times: UnsafeMutablePointer<Int64>) {
        let first = index - anchorIndex
        for i in 0..<count {
            // As `rounded()`, without a call of the C library for each.
            let time = Double(first + i) * interval
            times[i] = anchorTime + Int64(time < 0 ? time - 0.5 : time + 0.5)
        }
    }

    /// The true rate is known (better): samples are counted by it, from the last anchor either way.
    public mutating func follow(rate: Double) { interval = 1e9 / rate }

    /// Moves the anchor along before sample `index`, at fixed places, and to a block's own time where that is measured
    /// (a real sensor's clock wanders) rather than counted.
    public mutating func advance(to index: Int, blockTime: Int64?) {
        while index - anchorIndex >= Self.stretch {
            anchorTime = time(anchorIndex + Self.stretch)
            anchorIndex += Self.stretch
        }
        guard let blockTime else { return }
        let difference = blockTime - time(index)
        if difference > Self.tolerance || difference < -Self.tolerance {
            (anchorTime, anchorIndex) = (blockTime, index)
        }
    }
}
