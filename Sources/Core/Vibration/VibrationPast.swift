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

/// Vibration dose of the present day (7 to 23 h) or night (23 to 7 h), BS 6472-1.
public struct VibrationPeriod: Sendable, Equatable {
    /// Nanoseconds by which local time is ahead of UTC.
    private let offset: Int64
    private var current: (number: Int64, isNight: Bool)?
    private var fourths = [0.0, 0.0, 0.0]
    /// m/s^1.75, of x, y and z.
    public private(set) var doses = [0.0, 0.0, 0.0]
    /// Seconds of it that were measured.
    public private(set) var seconds = 0.0

    /// - Parameter offset: hours by which local time is ahead of UTC.
    public init(offset: Double) { self.offset = Int64((offset * 3_600e9).rounded()) }

    public static func == (a: Self, b: Self) -> Bool {
        a.offset == b.offset && a.fourths == b.fourths && a.seconds == b.seconds
            && a.current?.number == b.current?.number && a.current?.isNight == b.current?.isNight
    }

    public var isNight: Bool { current?.isNight ?? false }

    /// Adds an interval, which counts for the period that it begins in.
    public mutating func add(_ interval: VibrationInterval) {
        let hour: Int64 = 3_600_000_000_000
        // Days of this count begin at 7 h.
        let shifted = interval.start + offset - 7 * hour
        let day = (shifted - ((shifted % (24 * hour)) + 24 * hour) % (24 * hour)) / (24 * hour)
        let isNight = shifted - day * 24 * hour >= 16 * hour
        if current?.number != day || current?.isNight != isNight {
            current = (day, isNight)
            for k in 0..<3 { fourths[k] = 0 }
            seconds = 0
        }
        seconds += interval.seconds
        for k in 0..<3 {
            fourths[k] += interval.axes[k].doseFourth
            doses[k] = fourths[k].squareRoot().squareRoot()
        }
    }

    /// Adds what another one of the same offset has of the same day or night.
    public mutating func join(_ past: VibrationPeriod) {
        guard let current else {
            self = past
            return
        }
        guard offset == past.offset, past.current?.number == current.number, past.current?.isNight == current.isNight
        else { return }
        seconds += past.seconds
        for k in 0..<3 {
            fourths[k] += past.fourths[k]
            doses[k] = fourths[k].squareRoot().squareRoot()
        }
    }
}
