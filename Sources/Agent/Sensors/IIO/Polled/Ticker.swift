/// The moments at which a program itself has to take samples, each computed from the first, so that lateness never adds
/// up. Who is late by whole periods leaves them out.
struct Ticker: Sendable {
    private let period: Double
    private let origin: Int64
    private var index: Int64 = 0
    /// How much later than its moment a sample was taken, in ns: mean, mean square, the most.
    private var mean = 0.0
    private var square = 0.0
    private var most = 0.0
    private var seen = 0

    /// - Parameter rate: in Hz.
    init(rate: Double, now: Int64) {
        period = 1e9 / rate
        origin = now
    }

    /// The next moment, on the monotonic clock, and how many were left out before it.
    mutating func next(now: Int64) -> (deadline: Int64, skipped: Int) {
        index += 1
        let behind = Int64((Double(now &- deadline) / period).rounded(.down))
        // Late by less than a period: taken late, not left out.
        guard behind > 0 else { return (deadline, 0) }
        index += behind
        return (deadline, Int(behind))
    }

    /// The sample of the present moment was taken then.
    mutating func taken(_ moment: Int64) {
        let late = Double(max(0, moment &- deadline))
        seen = min(seen + 1, 1000)
        mean += (late - mean) / Double(seen)
        square += (late * late - square) / Double(seen)
        most = max(most, late)
    }

    /// Standard deviation of the moments, and the worst, against their mean, in ns.
    var jitter: (deviation: Double, worst: Double) {
        (max(0, square - mean * mean).squareRoot(), max(0, most - mean))
    }

    private var deadline: Int64 { origin &+ Int64((Double(index) * period).rounded()) }
}
