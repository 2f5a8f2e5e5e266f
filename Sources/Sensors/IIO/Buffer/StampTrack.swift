/// Finds the holes in a row of kernel time stamps: a stamp belongs to the n-th tick after the one before, and n - 1
/// triggers gave no sample.
///
/// The stamp is taken when the trigger fires, so it may be late, but hardly early: a stamp of 1.7 periods is the next
/// tick, late, and not the one after it. So the grid of the ticks is followed by a loop of second order (phase and
/// period; Gardner, Phaselock Techniques, 3rd ed., ch. 2), and a stamp is put onto the last tick that it can belong to.
struct StampTrack: Sendable {
    enum Step: Sendable, Equatable {
        /// The first one, or the next tick.
        case next
        /// So many ticks without a sample lie before it.
        case missing(Int)
        /// The same stamp again.
        case duplicate
        /// It lies before the one before: the clock was set.
        case backwards
    }

    /// Gains of the loop: damping 0.7, so that a rate that is 5 % off is followed without a slip.
    private static let phaseGain = 0.1
    private static let periodGain = 0.005
    /// Stamps until the loop has settled.
    private static let settled = 200

    /// Periods by which a stamp may be late before a hole is believed: 0 for a trigger; chips with a FIFO have their
    /// stamps spread over the FIFO by the driver, which has only the time of the interrupt.
    private let looseness: Double
    private let nominal: Double
    private var period: Double
    private var phase: Int64 = 0
    private var last: Int64 = 0
    private var seen = 0

    /// - Parameter rate: nominal, in Hz.
    init(rate: Double, looseness: Double = 0) {
        nominal = 1e9 / rate
        period = nominal
        self.looseness = looseness
    }

    /// Forgets where the ticks are, not how far apart they are.
    mutating func restart() { seen = 0 }

    /// Takes the next stamp, in ns.
    mutating func take(_ stamp: Int64) -> Step {
        guard seen > 0 else {
            start(stamp)
            return .next
        }
        if stamp == last { return .duplicate }
        let since = Double(stamp &- phase) / period
        if stamp < last, looseness == 0 || since < -looseness {
            start(stamp)
            return .backwards
        }
        // What does not fit any more is no hole, it is another clock.
        guard since < 1e9 else {
            start(stamp)
            return .backwards
        }
        let early = seen < Self.settled ? 0.45 : 0.2
        var ticks = 1
        if looseness > 0 {
            if since > 1 + looseness { ticks = Int(since.rounded()) }
        } else {
            ticks = max(1, Int((since + early).rounded(.down)))
        }
        last = stamp
        follow(stamp, ticks: ticks, since: since)
        return ticks > 1 ? .missing(ticks - 1) : .next
    }

    private mutating func start(_ stamp: Int64) {
        phase = stamp
        last = stamp
        seen = 1
    }

    private mutating func follow(_ stamp: Int64, ticks: Int, since: Double) {
        if ticks > 1 {
            phase = stamp
            return
        }
        // Once settled, one that is very late does not count more than one that is late.
        let bound = seen < Self.settled ? 0.5 : 0.2
        let error = min(max(since - 1, -bound), bound)
        phase &+= Int64(((1 + Self.phaseGain * error) * period).rounded())
        period = min(max(period * (1 + Self.periodGain * error), nominal * 0.85), nominal * 1.15)
        if seen < Self.settled { seen += 1 }
    }
}
