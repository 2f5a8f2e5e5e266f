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
