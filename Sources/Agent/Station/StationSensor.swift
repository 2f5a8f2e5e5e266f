import Messages
import Seismology
import Settings
import SignalProcessing

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

/// Finds the settings that cannot work at the sensor's rate, before they are in force. Pure.
public enum StationCheck {
    /// Returns the faults of a configuration, each named by its setting; empty: ``StationPipeline`` takes it.
    public static func problems(_ configuration: Configuration, sensor: StationSensor) -> [StationError] {
        let rate = sensor.rate
        var found: [StationError] = []
        func look(_ body: () throws(StationError) -> Void) {
            do throws(StationError) { try body() } catch { if !found.contains(error) { found.append(error) } }
        }
        func design(_ path: String, _ body: () throws(FilterDesignError) -> Void) {
            look { () throws(StationError) in try StationError.at(path, body) }
        }
        design("/conditioning/offset") { () throws(FilterDesignError) in
            _ = try OffsetRemoval(configuration.conditioning.offset, rate: rate)
        }
        for (name, axis) in [("x", 0), ("y", 1), ("z", 2)] {
            design("/axes/\(name)/filter") { () throws(FilterDesignError) in
                _ = try configuration.axes[axis].filter.design(rate: rate)
            }
        }
        design("/sensor/rate_hz") { () throws(FilterDesignError) in _ = try GroundIntegrator(rate: rate) }
        look { () throws(StationError) in _ = try DetectorBank(configuration, rate: rate) }
        look { () throws(StationError) in
            let topics = try StationError.topics(of: configuration)
            _ = try Messenger(configuration, topics: topics, boot: "")
            _ = try WaveformSender(configuration, sensor: sensor, topics: topics)
        }
        look { () throws(StationError) in _ = try RingWriter(configuration, sensor: sensor) }
        look { () throws(StationError) in _ = try VibrationSender.meter(configuration, rate: rate) }
        return found
    }

    /// The first of them; nil: there is none.
    public static func problem(_ configuration: Configuration, sensor: StationSensor) -> StationError? {
        problems(configuration, sensor: sensor).first
    }
}

/// Settings that cannot work at the sensor's actual rate.
public struct StationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Path of the setting, such as `/axes/x/filter`.
    public var path: String
    public var message: String
    public var description: String { "\(path): \(message)" }

    /// Runs a design and names the setting that it came from when it fails.
    static func at<R>(_ path: String, _ body: () throws(FilterDesignError) -> R) throws(StationError) -> R {
        do throws(FilterDesignError) {
            return try body()
        } catch { throw StationError(path: path, message: error.description) }
    }
}

extension StationError {
    /// The topics of a station, or the setting that makes them impossible.
    static func topics(of configuration: Configuration) throws(StationError) -> Topics {
        do throws(TopicError) {
            return try Topics(root: configuration.mqtt.root, id: configuration.station.id)
        } catch { throw StationError(path: "/station/id", message: error.description) }
    }
}
