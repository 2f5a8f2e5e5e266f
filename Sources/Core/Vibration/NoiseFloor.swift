/// The sensor's own noise in the quantities of an axis, as measured in quiet: the smallest value of the complete intervals
/// of the last one to two days. Nil until these have five of them. It bounds what can be said: a chip of 400 µg/√Hz
/// gives 1.9 mm/s of noise between 1 and 80 Hz.
public struct NoiseFloor: Sendable, Equatable {
    public struct Values: Sendable, Equatable {
        /// mm/s.
        public var ppv = Double.infinity
        public var rms = Double.infinity
        public var kbFmax = Double.infinity
        /// m/s².
        public var weightedRMS = Double.infinity
        /// m/s^1.75.
        public var dose = Double.infinity

        public init() {}

        mutating func take(_ axis: VibrationInterval.Axis) {
            ppv = min(ppv, axis.ppv)
            rms = min(rms, axis.rms)
            kbFmax = min(kbFmax, axis.kbFmax)
            weightedRMS = min(weightedRMS, axis.weightedRMS)
            dose = min(dose, axis.dose)
        }

        mutating func take(_ other: Values) {
            ppv = min(ppv, other.ppv)
            rms = min(rms, other.rms)
            kbFmax = min(kbFmax, other.kbFmax)
            weightedRMS = min(weightedRMS, other.weightedRMS)
            dose = min(dose, other.dose)
        }
    }

    /// Intervals until a floor is published.
    public static let least = 5
    private static let day: Int64 = 86_400_000_000_000

    private var today = Day()
    private var yesterday = Day()
    private var number: Int64 = .min

    /// Smallest values of a day of UTC.
    private struct Day: Sendable, Equatable {
        var axes = [Values(), Values(), Values()]
        var count = 0

        mutating func take(_ other: Day) {
            for k in axes.indices { axes[k].take(other.axes[k]) }
            count += other.count
        }
    }

    public init() {}

    /// Adds an interval; one that lacks more than a tenth does not count.
    public mutating func add(_ interval: VibrationInterval) {
        guard interval.seconds >= 0.9 * Double(interval.length) else { return }
        let day = interval.start / Self.day
        if day != number {
            yesterday = day == number &+ 1 ? today : Day()
            (today, number) = (Day(), day)
        }
        for k in 0..<3 { today.axes[k].take(interval.axes[k]) }
        today.count += 1
    }

    /// Adds what was measured before by another one.
    public mutating func join(_ past: NoiseFloor) {
        switch number {
        case .min: self = past
        case past.number:
            today.take(past.today)
            yesterday.take(past.yesterday)
        case past.number &+ 1: yesterday.take(past.today)
        default: break
        }
    }

    /// Returns the floor of an axis; nil: not known yet.
    public func values(axis: Int) -> Values? {
        guard today.count + yesterday.count >= Self.least else { return nil }
        var all = today.axes[axis]
        all.take(yesterday.axes[axis])
        return all
    }
}
