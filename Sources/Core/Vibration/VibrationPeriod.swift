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
