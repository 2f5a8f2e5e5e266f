/// Time of every sample of an unbroken stretch, from its number: the same whatever blocks the samples came in.
struct SampleClock: Sendable, Equatable {
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
    init(time: Int64, rate: Double) {
        anchorTime = time
        interval = 1e9 / rate
    }

    /// Time of a sample, nanoseconds of UTC.
    func time(_ index: Int) -> Int64 {
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
    mutating func follow(rate: Double) { interval = 1e9 / rate }

    /// Moves the anchor along before sample `index`, at fixed places, and to a block's own time where that is measured
    /// (a real sensor's clock wanders) rather than counted.
    mutating func advance(to index: Int, blockTime: Int64?) {
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

/// When the parts of a longer piece of work are done that goes on beside the samples: counted by samples alone, so that
/// the result does not depend on blocks. A second's work has some sixteen parts, each as long as the rate is high: up to
/// 200 Hz they follow one another at once, above that with pauses that grow with the rate, so that even a slow processor
/// reads its sensor in between. At 1000 Hz and above they take about half of the second.
struct WorkPace: Sendable, Equatable {
    /// Parts at a time: more where there are few samples in a second.
    let parts: Int
    /// Samples from one time to the next.
    let spacing: Int
    /// Samples before the next time.
    private(set) var pause = 0

    /// - Parameter rate: samples per second.
    init(rate: Double) {
        parts = max(1, Int((50 / rate).rounded(.up)))
        spacing = max(1, Int(rate / 32 * min(1, rate / 1000)))
    }

    /// To be asked at each sample: true when the next parts are to be done.
    mutating func isDue() -> Bool {
        guard pause > 0 else {
            pause = spacing - 1
            return true
        }
        pause -= 1
        return false
    }

    /// Goes on by samples at which nothing is to be done, at most ``pause``.
    mutating func skip(_ count: Int) { pause -= min(count, pause) }

    /// The work begins with the next sample.
    mutating func restart() { pause = 0 }
}
