/// Lets so many through per second on average, and a tenth of that at once. Pure: the time is passed in.
struct TokenBucket: Sendable, Equatable {
    private let perSecond: Double
    private let capacity: Double
    private var tokens: Double
    private var last: UInt64 = 0

    /// - Parameter perSecond: 0 lets nothing through.
    init(perSecond: Double) {
        self.perSecond = max(0, perSecond)
        capacity = max(1, perSecond / 10)
        tokens = perSecond > 0 ? capacity : 0
    }

    /// True, and one less, when one may pass now (ns).
    mutating func take(now: UInt64) -> Bool {
        tokens = min(capacity, tokens + Double(now - min(now, last)) / 1e9 * perSecond)
        last = max(last, now)
        // Slightly less than one: sums of fractions never reach it exactly.
        guard tokens >= 0.999_999 else { return false }
        tokens = max(0, tokens - 1)
        return true
    }

    /// When the next may pass (ns); nil: never. To be asked after `take` has said no.
    var next: UInt64? {
        guard perSecond > 0 else { return nil }
        return last + UInt64((1 - min(1, tokens)) / perSecond * 1e9) + 1
    }
}
