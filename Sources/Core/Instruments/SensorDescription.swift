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

/// How a sensor is doing, by its driver's own counting and measuring since `open`.
public struct SensorCondition: Sendable, Equatable {
    /// True samples per second by the host's clock; nil while too little is known.
    public var rate: MeasuredRate?
    /// Standard uncertainty of the time of a block against the host's clock, in s; nil while too little is known.
    public var timeError: Double?
    /// Samples that the device or the kernel threw away before they were read.
    public var lost = 0
    /// Times at which a FIFO or a buffer had run over.
    public var overruns = 0
    /// Samples per second that the bus can carry; nil where it is not known, or there is no bus to be measured.
    public var busRate: Double?
    /// Triggers that gave no sample.
    public var lostTriggers = 0
    /// Samples that came twice and were left out.
    public var duplicates = 0
    /// Jumps of the wall clock that were found and taken out of the sample count's way.
    public var clockSteps = 0
    /// Reads that took too long to say anything about time.
    public var slowReads = 0
    /// Transfers that were tried again.
    public var retries = 0
    /// Times at which the driver has woken the processor to read.
    public var wakeUps = 0
    /// Temperature of the chip in °C.
    public var temperature: Double?
    /// Differences between the values that `open` took and those asked for, for people: "rate 104 Hz, the nearest to
    /// 100 Hz".
    public var notes: [String] = []

    public init() {}
}

/// A rate and how well it is known.
public struct MeasuredRate: Sendable, Equatable {
    /// Samples per second.
    public var rate: Double
    /// Standard uncertainty in Hz.
    public var uncertainty: Double

    public init(rate: Double, uncertainty: Double) {
        self.rate = rate
        self.uncertainty = uncertainty
    }
}

/// Result of a chip's self-test.
public struct SelfTestReport: Sendable, Equatable {
    /// Change of one axis while the chip moves its own mass.
    public struct Axis: Sendable, Equatable {
        /// Measured change, and the smallest and largest that the data sheet allows; in the report's unit.
        public var change: Double
        public var minimum: Double
        public var maximum: Double
        public var passed: Bool { change.isFinite && change >= minimum && change <= maximum }

        public init(change: Double, minimum: Double, maximum: Double) {
            self.change = change
            self.minimum = minimum
            self.maximum = maximum
        }
    }
    public var x: Axis
    public var y: Axis
    public var z: Axis
    /// Unit of the numbers: `m/s^2`, or `%` for chips whose maker gives a change of the factory's value.
    public var unit: String
    /// Where the procedure and its limits stand: data sheet, revision, page.
    public var source: String
    public var passed: Bool { x.passed && y.passed && z.passed }

    public init(x: Axis, y: Axis, z: Axis, unit: String, source: String) {
        self.x = x
        self.y = y
        self.z = z
        self.unit = unit
        self.source = source
    }
}
