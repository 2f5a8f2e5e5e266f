import SignalProcessing

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
