/// Finds the holes in a row of kernel time stamps: a stamp belongs to the n-th tick after the one before, and n - 1
/// triggers gave no sample.
///
/// The stamp is taken when the trigger fires, so it may be late, but hardly early: one that comes 2.8 periods after the
/// last may be the second tick, late. The grid of the ticks is followed by a loop of second order (phase and period;
/// Gardner, Phaselock Techniques, 3rd ed., ch. 2), and where a stamp leaves a doubt the next ones decide: as each of
/// them is late, if anything, the one that says the fewest missing ticks is right.
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

    /// Gains of the loop: damping 0.7, so that a rate that is 5 % off is followed without a slip. What is early counts
    /// three times: the grid is to lie at the first edge of the stamps, not in their middle.
    private static let phaseGain = 0.1
    private static let periodGain = 0.005
    private static let earlyWeight = 3.0
    /// Stamps until the loop has settled.
    private static let settled = 200
    /// Stamps that are looked at where one leaves a doubt.
    private static let lookAhead = 4

    /// Periods by which a stamp may be late before a hole is believed: 0 for a trigger; chips with a FIFO have their
    /// stamps spread over the FIFO by the driver, which has only the time of the interrupt.
    private let looseness: Double
    private let shortest: Double
    private let longest: Double
    private var period: Double
    private var phase: Int64 = 0
    private var last: Int64 = 0
    private var seen = 0

    /// - Parameters:
    ///   - rate: nominal, in Hz.
    ///   - tolerance: how far the true rate may be from it: 0.02 for a timer of the kernel, more for a chip's own clock.
    init(rate: Double, tolerance: Double = 0.12, looseness: Double = 0) {
        period = 1e9 / rate
        shortest = period * (1 - tolerance)
        longest = period * (1 + tolerance)
        self.looseness = looseness
    }

    /// Forgets where the ticks are, not how far apart they are.
    mutating func restart() { seen = 0 }

    /// Takes the next stamp, in ns.
    /// - Parameter following: the n-th stamp after it, n from 1; nil where it has not come yet.
    mutating func take(_ stamp: Int64, following: (Int) -> Int64? = { _ in nil }) -> Step {
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
        var ticks = 1
        if looseness > 0 {
            if since > 1 + looseness { ticks = Int(since.rounded()) }
        } else if since > 1.3 {
            ticks = 1 + missing(since - 1, following)
        }
        last = stamp
        follow(stamp, ticks: ticks, since: since)
        return ticks > 1 ? .missing(ticks - 1) : .next
    }

    /// Ticks that lie before a stamp which comes so many periods after its due time.
    private func missing(_ late: Double, _ following: (Int) -> Int64?) -> Int {
        var least = late
        var tolerance = 0.25
        for index in 1...Self.lookAhead {
            guard let stamp = following(index) else { break }
            least = min(least, Double(stamp &- phase) / period - Double(index + 1))
            tolerance = 0.45
        }
        return max(0, Int((least + tolerance).rounded(.down)))
    }

    private mutating func start(_ stamp: Int64) {
        phase = stamp
        last = stamp
        seen = 1
    }

    private mutating func follow(_ stamp: Int64, ticks: Int, since: Double) {
        if ticks > 1 {
            // The stamp that ends a hole may be late itself; then the grid goes on where it was.
            let rest = since - Double(ticks)
            let late = rest < 0 ? rest : rest < 0.3 ? 0.3 * rest : 0
            phase &+= Int64(((Double(ticks) + late) * period).rounded())
            return
        }
        // Once settled, one that is very late does not count more than one that is late.
        let bound = seen < Self.settled ? 0.5 : 0.2
        let error = min(max(since - 1, -bound), bound)
        let weighted = error < 0 ? Self.earlyWeight * error : error
        phase &+= Int64(((1 + Self.phaseGain * weighted) * period).rounded())
        period = min(max(period * (1 + Self.periodGain * weighted), shortest), longest)
        if seen < Self.settled { seen += 1 }
    }
}
