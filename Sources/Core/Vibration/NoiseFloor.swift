/// The sensor's own noise in the quantities of an axis, as measured in quiet: the smallest value of the complete intervals
/// of the last one to two days. Nil until there have been five of them. It bounds what can be said: a chip of 400 µg/√Hz
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

    private var today: [Values] = Self.blank
    private var yesterday: [Values] = Self.blank
    private var number: Int64 = .min
    private var count = 0
    private static let blank = [Values(), Values(), Values()]

    public init() {}

    /// Adds an interval; one that lacks more than a tenth does not count.
    public mutating func add(_ interval: VibrationInterval) {
        guard interval.seconds >= 0.9 * Double(interval.length) else { return }
        let day = interval.start / Self.day
        if day != number {
            yesterday = day == number + 1 ? today : Self.blank
            (today, number) = (Self.blank, day)
        }
        for k in 0..<3 { today[k].take(interval.axes[k]) }
        count += 1
    }

    /// Of an axis; nil: not known yet.
    public func values(axis: Int) -> Values? {
        guard count >= Self.least else { return nil }
        var all = today[axis]
        all.take(yesterday[axis])
        return all
    }
}
