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
