/// Whether a counter has changed lately: what has happened stays an alert for a while, so that it is seen.
struct Lately {
    private var last: UInt64 = 0
    private var until: Int64?

    /// - Parameters:
    ///   - now: of the monotonic clock (ns).
    ///   - time: how long a change counts (ns).
    mutating func note(_ count: UInt64, now: Int64, for time: Int64) -> Bool {
        if count != last { until = now + time }
        last = count
        if let end = until, now >= end { until = nil }
        return until != nil
    }

    mutating func prolong(now: Int64, for time: Int64) { until = now + time }
}
