import Instruments
import MQTT
import Messages
import Sensors
import Settings

/// Facts from which the agent judges alerts, once a second.
public struct AlertFacts: Sendable {
    /// Time by the monotonic clock (ns).
    public var now: Int64
    /// Since when it is known whether the sensor can be used (monotonic, ns); nil: it is not known yet.
    public var sensorKnown: Int64?
    public var sensor = Sensor()
    /// How good the host's clock is; nil: nobody says.
    public var clock: TimeQuality?
    /// Settings that cannot be used with this sensor: the setting's path, and the whole sentence.
    public var refusedSettings: (path: String, message: String)?
    /// A change of the settings that was taken back, until the next one.
    public var reverted: AlertFault?
    /// Settings of the connection in force.
    public var mqtt: MQTTConfiguration
    public var link: LinkStatistics
    public var storage = Storage()
    /// How the last interval of vibration stands to its limit; nil: there is none, or no limit.
    public var vibration: VibrationMessage.Standing?
    /// Fault of the alarm's line; nil: it works, or there is none.
    public var alarmProblem: String?

    public init(now: Int64, mqtt: MQTTConfiguration, link: LinkStatistics) {
        (self.now, self.mqtt, self.link) = (now, mqtt, link)
    }

    public struct Sensor: Sendable {
        /// Nil while none is open.
        public var description: SensorDescription?
        /// Reason why it cannot be used.
        public var problem: SensorError?
        /// It is too early to raise that.
        public var waits = false
        /// It is open and sends nothing, and should.
        public var isSilent = false
        /// Faults of the samples that come.
        public var watch = SampleReport()
        /// Nil while none has been asked for or made.
        public var selfTest: SelfTestOutcome?
        /// How the driver says that it is; nil while none is open.
        public var condition: SensorCondition?
        /// The samples are put on the nominal rate.
        public var isResampled = false

        public init() {}
    }

    public struct Storage: Sendable {
        /// Reason why it is unavailable; nil: it works.
        public var problem: String?
        /// Damage that was found since the start, in words.
        public var setAside: String?
        /// The files were taken away while they were in use: what, in words, and when (monotonic, ns).
        public var taken: (words: String, at: Int64)?
        /// Messages that the disk dropped for want of room since the start.
        public var dropped = ClassCounts()
        /// Messages lost by damage, other things, and how often nobody knows what.
        public var (damaged, damagedOthers, unknownLosses) = (0, 0, 0)
        public var (rebuiltIndices, damagedPages) = (0, 0)

        public init() {}
    }
}

/// Report of ``SampleWatch``, with its numbers at the moment of the last change.
public struct SampleReport: Sendable, Equatable {
    public var faults: SampleFaults
    /// Bits 0, 1, 2: the axes that stand still.
    public var stuckAxes: UInt8
    /// Share of a second's samples at full scale.
    public var saturated: Double
    /// Magnitude of a second's mean in m/s²; nil when it has no numbers.
    public var magnitude: Double?

    public init(
        faults: SampleFaults = [], stuckAxes: UInt8 = 0, saturated: Double = 0, magnitude: Double? = nil
    ) {
        (self.faults, self.stuckAxes, self.saturated, self.magnitude) = (faults, stuckAxes, saturated, magnitude)
    }
}

/// Outcome of the chip's self-test.
public struct SelfTestOutcome: Sendable, Equatable {
    /// Nanoseconds of UTC.
    public var time: Int64
    /// Nil when it could not be made.
    public var report: SelfTestReport?
    public var error: SensorError?

    public init(time: Int64, report: SelfTestReport? = nil, error: SensorError? = nil) {
        (self.time, self.report, self.error) = (time, report, error)
    }
}
