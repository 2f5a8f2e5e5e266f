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

    public init(time: Int64, gapBefore: Bool, lostBefore: Int) {
        self.time = time
        self.gapBefore = gapBefore
        self.lostBefore = lostBefore
    }
}
