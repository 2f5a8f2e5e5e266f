/// Moments at a rate, counted from a whole second of UTC. At a whole number per second every second has one.
public struct TimeGrid: Sendable, Equatable {
    /// A whole second, ns.
    private let origin: Int64
    private let rate: Double
    /// The rate where it is a whole number, so that nothing is rounded but the nanosecond.
    private let whole: Int64

    /// - Parameters:
    ///   - time: some time near, ns of UTC; the grid begins with its second.
    ///   - rate: per second, more than 0.
    public init(near time: Int64, rate: Double) {
        let second = time / 1_000_000_000
        origin = (time < 0 && second * 1_000_000_000 != time ? second - 1 : second) * 1_000_000_000
        self.rate = rate
        whole = rate == rate.rounded() && rate < 1e9 ? Int64(rate) : 0
    }

    /// Time of a place of the grid, ns of UTC, rounded to the nearest.
    public func time(_ index: Int) -> Int64 {
        if whole > 0 {
            let (seconds, rest) = Int64(index).quotientAndRemainder(dividingBy: whole)
            return origin + seconds * 1_000_000_000 + (rest * 1_000_000_000 + whole / 2) / whole
        }
        return origin + Int64((Double(index) * 1e9 / rate).rounded())
    }

    /// The first place at or after a time.
    public func index(from time: Int64) -> Int {
        var index = Int((Double(time - origin) * rate / 1e9).rounded(.down)) - 1
        while self.time(index) < time { index += 1 }
        return index
    }
}
