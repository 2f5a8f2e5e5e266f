/// Lets so many through at once and so many per second after that. Pure: the time is passed in.
struct CommandRate: Sendable, Equatable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: Int64?

    init(burst: Double, perSecond: Double) {
        (self.burst, self.perSecond) = (burst, perSecond)
        tokens = burst
    }

    /// True, and one less, when one may pass.
    /// - Parameter now: of the monotonic clock (ns).
    mutating func take(now: Int64) -> Bool {
        if let last { tokens = min(burst, tokens + Double(max(0, now - last)) / 1e9 * perSecond) }
        last = max(last ?? now, now)
        guard tokens >= 0.999_999 else { return false }
        tokens -= 1
        return true
    }
}
