/// Pauses between attempts: each is random between the base and three times the one before, never above the cap.
/// Boards that lost the same broker at the same moment so come back spread out, and sooner than with plain
/// doubling. (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.)
struct DecorrelatedJitter: Sendable, Equatable {
    /// Nanoseconds.
    let base: UInt64
    let cap: UInt64
    private var last: UInt64

    init(base: UInt64, cap: UInt64) {
        self.base = max(1, base)
        self.cap = max(self.base, cap)
        last = self.base
    }

    /// The next pause in nanoseconds.
    mutating func next(using random: inout some RandomNumberGenerator) -> UInt64 {
        let upper = last > cap / 3 ? max(base, min(cap, last) * 3) : last * 3
        last = min(cap, UInt64.random(in: base...max(base, upper), using: &random))
        return last
    }

    mutating func reset() { last = base }
}
