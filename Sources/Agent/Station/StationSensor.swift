import Messages
import Seismology
import Settings

/// Facts about its sensor that a station needs.
public struct StationSensor: Sendable, Equatable {
    /// Samples per second.
    public var rate: Double
    /// Full scale and smallest step in m/s²; nil when not known.
    public var range: Double?
    public var resolution: Double?

    public init(rate: Double, range: Double? = nil, resolution: Double? = nil) {
        self.rate = rate
        self.range = range
        self.resolution = resolution
    }
}

/// Counters since the start.
public struct StationStatus: Sendable, Equatable {
    public var samples = 0
    public var gaps = 0
    /// Samples that a driver said were missing.
    public var lostSamples = 0
    /// Samples that were no numbers, or beyond 10⁶ m/s², and were declared as gaps.
    public var invalidSamples = 0
    /// Samples at the sensor's full scale.
    public var clippedSamples = 0
    /// Time of the last sample, nanoseconds of UTC; nil before the first.
    public var time: Int64?
    /// Mean acceleration of the last whole second along the station's axes; nil before the first.
    public var mean: AxisValues<Double>?
}

/// Rules of the settings for single samples.
struct StationRules: Sendable {
    /// Samples after a start or a gap whose numbers are not to be trusted.
    let settleSamples: Int
    let traceEnabled: Bool

    init(_ configuration: Configuration, _ path: SignalPath, rate: Double) {
        let settle = configuration.conditioning.settle ?? max(1, path.settlingTime)
        // An average with a tiny share of the new never settles.
        settleSamples = max(Int(min(settle * rate, 1e15).rounded()), path.holdBack)
        traceEnabled = configuration.trace.enabled
    }
}

/// One sample with everything that is known of it.
struct RecordedSample {
    /// Number since the start of the agent; rises by more than one over a gap.
    var index: Int64
    /// Nanoseconds of UTC.
    var time: Int64
    var motion: MotionSample
    var rms: (x: Double, y: Double, z: Double)
    var clipped: Bool
}
