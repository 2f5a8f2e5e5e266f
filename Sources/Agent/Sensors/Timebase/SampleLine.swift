import SignalProcessing

/// Which sample was taken when: a line through the times of the blocks of one unbroken stretch, without a step in it.
struct SampleLine: Sendable, Equatable {
    /// Time and number of the block's first sample, as the line has them.
    private var time: Double
    private var index: Int
    /// Nanoseconds from sample to sample in this block.
    private var interval: Double
    /// Whole nanoseconds that `time` counts from.
    private let origin: Int64

    /// Rounding of a recording's own times (ns).
    private static let rounding = 2.0

    init(time: Int64, interval: Double) {
        origin = time
        self.time = 0
        index = 0
        self.interval = interval
    }

    /// The next block: its first sample's number and time, and the interval as it is known now.
    /// - Returns: false when the block does not lie on the line at all.
    mutating func advance(to next: Int, time given: Int64, interval known: Double, count: Int) -> Bool {
        let expected = time + Double(next - index) * interval
        let error = Double(given &- origin) - expected
        guard abs(error) > Self.rounding || known != interval else { return true }
        guard abs(error) < 2 * known else { return false }
        (time, index) = (expected, next)
        // A quarter of what is off goes into each block.
        interval = known + (abs(error) > Self.rounding ? error / (4 * Double(max(1, count))) : 0)
        return true
    }

    /// Place of a moment among the samples.
    func place(of moment: Int64) -> (index: Int, fraction: Double) {
        let position = (Double(moment &- origin) - time) / interval
        let nearest = position.rounded()
        // What is a sample but for rounding is that sample.
        if abs(position - nearest) < 1e-6 { return (index + Int(nearest), 0) }
        let floor = position.rounded(.down)
        return (index + Int(floor), position - floor)
    }
}
