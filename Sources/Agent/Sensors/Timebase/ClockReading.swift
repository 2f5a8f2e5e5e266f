import SignalProcessing

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

/// An observation's bound on a line of samples.
struct Sight: Sendable {
    var isStamp: Bool
    /// Most likely moment (monotonic, ns) of the sample this many after the block's last.
    var moment: Int64
    var ahead: Double
    /// The truth lies within these (ns) of the moment.
    var lower: Double
    var upper: Double
    /// Standard deviation of the moment (ns).
    var deviation: Double
    /// Distance from the line (ns) up to which the observation says something.
    var tolerance: Double
    /// The read took too long.
    var isSlow = false
}

/// How much observations scatter, and how long reads take.
struct ObservationNoise: Sendable {
    private let period: Double
    /// Usual duration of the read of a level (ns); nil before the first.
    private var duration: Double?
    /// Mean square of what is left after the regression (ns²), and of what a spread of levels would give.
    private var square: Double
    private var spread: Double
    private var isStamp = false
    private var count = 0

    init(period: Double) {
        self.period = period
        square = period * period / 64
        spread = 0
    }

    /// A new line.
    mutating func forget() { (square, spread, count) = (period * period / 64, 0, 0) }

    /// Standard uncertainty (ns) of what all observations may have in common: levels that are always read at the same
    /// moment between two samples say nothing of where between them.
    var bias: Double {
        if isStamp { return square.squareRoot() / 4 }
        guard count > 3, spread > 0 else { return period / 3.46 }
        return max(0, spread - square).squareRoot()
    }

    /// - Parameter uncertainty: of the line there, before it has taken the observation.
    mutating func take(_ residual: Double, _ sight: Sight, _ uncertainty: Double) {
        isStamp = sight.isStamp
        count += 1
        let share = max(1 / Double(count + 3), 1.0 / 64)
        // What part of the residual is noise, by what is expected of both (expectation maximisation).
        let own = sight.isStamp ? square : sight.deviation * sight.deviation
        let part = own / (own + uncertainty * uncertainty)
        square += share * (part * part * residual * residual + part * uncertainty * uncertainty - square)
        spread += share * (sight.deviation * sight.deviation - spread)
    }

    mutating func sight(_ observation: Timebase.Observation, wall: WallOffset, line: CountRegression?, count: Int)
        -> Sight
    {
        switch observation {
        case .stamped(let reading):
            var moment = reading.monotonic != 0 ? reading.monotonic : reading.wall &- (wall.value ?? 0)
            if reading.monotonic != 0, let line, let previous = wall.previous {
                // Stamped before the clock was set, read after it.
                let other = reading.wall &- previous
                let ahead = Double(count)
                if abs(line.residual(other, ahead: ahead)) < abs(line.residual(moment, ahead: ahead)) { moment = other }
            }
            let deviation = max(square.squareRoot(), 1_000)
            return Sight(
                isStamp: true, moment: moment, ahead: 0, lower: -.infinity, upper: 0, deviation: deviation,
                tolerance: 5 * deviation + 50_000)
        case .level(let before, let after, let left):
            let start = before.monotonic != 0 ? before.monotonic : before.wall
            let end = after.monotonic != 0 ? after.monotonic : after.wall
            let taken = Double(max(0, end &- start))
            let usual = duration ?? taken
            let isSlow = taken > 3 * usual + 200_000
            duration = isSlow ? usual * 1.1 : usual + (taken - usual) / 16
            let half = (period + taken) / 2
            return Sight(
                isStamp: false, moment: start &+ (end &- start) / 2, ahead: Double(max(0, left)) + 0.5, lower: -half,
                upper: half, deviation: half / 1.732, tolerance: half, isSlow: isSlow)
        }
    }
}
