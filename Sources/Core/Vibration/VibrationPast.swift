/// Dose of the day or night, and floor, of the intervals of the last two days. Another run of the
/// agent, or another meter, continues it.
public struct VibrationPast: Sendable, Equatable {
    /// As it was measured.
    public let measurement: VibrationMeasurement
    /// Hours by which local time was ahead of UTC.
    public let offset: Double
    public private(set) var period: VibrationPeriod
    public private(set) var floor = NoiseFloor()
    /// Begin of the newest interval, ns of UTC; nil: there is none.
    public private(set) var newest: Int64?

    /// Older intervals say nothing of today.
    public static let reach: Int64 = 2 * 86_400_000_000_000

    public init(_ measurement: VibrationMeasurement, offset: Double) {
        (self.measurement, self.offset) = (measurement, offset)
        period = VibrationPeriod(offset: offset)
    }

    /// Adds an interval that was measured in this way, the earlier ones first.
    /// - Parameter isDoseAlone: its band or its length is another, and its weightings are the same.
    public mutating func add(_ interval: VibrationInterval, isDoseAlone: Bool = false) {
        period.add(interval)
        if !isDoseAlone { floor.add(interval) }
        newest = max(newest ?? interval.start, interval.start)
    }

    /// Adds what came before. Doses go on where the weightings and the days are the same, and the floor where all is.
    public mutating func join(_ past: VibrationPast) {
        if offset == past.offset, measurement.weightings == past.measurement.weightings { period.join(past.period) }
        if measurement == past.measurement { floor.join(past.floor) }
        if let other = past.newest { newest = max(newest ?? other, other) }
    }
}
