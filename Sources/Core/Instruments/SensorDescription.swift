/// A sensor's description of itself once it is open.
public struct SensorDescription: Sendable, Equatable {
    /// `iio`, `i2c`, `simulate`, `replay`.
    public var driver: String
    /// Chip, scenario or file name.
    public var chip: String
    /// Nominal samples per second.
    public var rate: Double
    /// Full scale in m/s²; nil when not known.
    public var range: Double?
    /// Smallest step in m/s²; nil when not known.
    public var resolution: Double?
    /// Where the time of the samples comes from.
    public var clock: ClockSource

    public init(
        driver: String, chip: String, rate: Double, range: Double? = nil, resolution: Double? = nil, clock: ClockSource
    ) {
        self.driver = driver
        self.chip = chip
        self.rate = rate
        self.range = range
        self.resolution = resolution
        self.clock = clock
    }
}

/// Which clock stamps the samples.
public enum ClockSource: Sendable, Equatable {
    /// The host's wall clock.
    case host
    /// The time written in a recording.
    case recording
}
