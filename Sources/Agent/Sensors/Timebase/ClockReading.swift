/// Two clocks read at the same moment.
public struct ClockReading: Sendable, Equatable {
    /// Nanoseconds of the clock that never jumps; 0 where it is not known.
    public var monotonic: Int64
    /// Nanoseconds of UTC since 1970-01-01, leap seconds not counted.
    public var wall: Int64

    public init(monotonic: Int64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The moment of a stamp of the wall clock (a kernel's time stamp), by both clocks as they are read now.
    public init(stamp wall: Int64, now: ClockReading) {
        self.init(monotonic: now.monotonic &- (now.wall &- wall), wall: wall)
    }
}

extension SensorClock {
    /// Reads both clocks; again, a few times, when something came between.
    public func reading() -> ClockReading {
        var best = ClockReading(monotonic: 0, wall: 0)
        var shortest = Int64.max
        for _ in 0..<3 {
            let before = monotonic()
            let wall = wall()
            let span = monotonic() &- before
            if span < shortest {
                shortest = span
                best = ClockReading(monotonic: before &+ span / 2, wall: wall)
            }
            if span < 20_000 { break }
        }
        return best
    }
}

/// When a block was taken, as a timebase found out.
public struct BlockTime: Sendable, Equatable {
    /// Time of the block's first sample: nanoseconds of UTC since 1970-01-01.
    public var time: Int64
    /// True when the block does not follow the one before: samples are missing, or the wall clock was set.
    public var gapBefore: Bool
    /// Samples missing between, estimated from time where nobody counted them; 0 when none is, as after a clock step.
    public var lostBefore: Int
    /// True when the stamp is not after the last one: the block has come before and is to be left out.
    public var isDuplicate = false
}

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
