/// Offset from the monotonic clock to UTC. Linux steers both clocks alike, so that it is constant until somebody sets
/// the wall clock: a step. Small changes are followed smoothly.
struct WallOffset: Sendable, Equatable {
    /// In ns; nil before the first reading.
    private(set) var value: Int64?
    /// The value before the last step, for stamps that are older than it.
    private(set) var previous: Int64?
    /// Steps since the start.
    private(set) var steps = 0
    /// A changed offset that waits for a second reading to say the same.
    private var candidate: Int64?

    /// Takes a reading of both clocks.
    /// - Parameter threshold: change in ns from which on it is a step.
    /// - Returns: true when the clock was set since the reading before.
    mutating func take(_ reading: ClockReading, threshold: Int64) -> Bool {
        guard reading.monotonic != 0 else {
            if value == nil { value = 0 }
            return false
        }
        let new = reading.wall &- reading.monotonic
        guard let old = value else {
            value = new
            return false
        }
        let difference = new &- old
        if difference.magnitude < threshold {
            value = old &+ difference / 8
            candidate = nil
            return false
        }
        guard let seen = candidate, (new &- seen).magnitude < threshold else {
            candidate = new
            return false
        }
        previous = old
        value = new
        candidate = nil
        steps += 1
        return true
    }
}
