import Messages
import Seismology
import SignalProcessing

/// The whole of an agent's settings, decoded and valid: one immutable snapshot that travels through the agent.
/// All numbers are SI (m/s², m/s, Hz, s); defaults are those of the table of settings.
public struct Configuration: Sendable, Equatable {
    public var station = StationConfiguration()
    public var sensor = SensorConfiguration()
    public var conditioning = ConditioningConfiguration()
    /// x, y and z.
    public var axes = PerAxis(AxisConfiguration())
    public var detection = DetectionConfiguration()
    public var intensity = IntensityConfiguration()
    public var spectrum = SpectrumConfiguration()
    public var trace = TraceConfiguration()
    public var waveform = WaveformConfiguration()
    public var mqtt = MQTTConfiguration()
    public var storage = StorageConfiguration()
    public var health = HealthConfiguration()
    public var log = LogConfiguration()

    public init() {}
}

/// Three values of the same kind, one for each axis.
public struct PerAxis<Value: Sendable & Equatable>: Sendable, Equatable {
    public var x: Value
    public var y: Value
    public var z: Value

    public init(_ all: Value) { (x, y, z) = (all, all, all) }
    public init(x: Value, y: Value, z: Value) { (self.x, self.y, self.z) = (x, y, z) }

    /// 0, 1, 2 is x, y, z.
    public subscript(axis: Int) -> Value {
        get { axis == 0 ? x : axis == 1 ? y : z }
        set {
            switch axis {
            case 0: x = newValue
            case 1: y = newValue
            default: z = newValue
            }
        }
    }
}

public struct StationConfiguration: Sendable, Equatable {
    /// `[A-Za-z0-9_-]{1,64}`; empty until the host name has been put in.
    public var id = ""
    public var network = "XX"
    public var code = ""
    public var location = "00"
    /// Degrees; nil when not given.
    public var latitude: Double?
    public var longitude: Double?
    public var elevation: Double?
    public var description = ""
    public var groups: [String] = []
}

public struct SensorConfiguration: Sendable, Equatable {
    public enum Driver: String, Sendable, CaseIterable { case auto, iio, i2c, simulate, replay }
    public var driver = Driver.auto
    /// Nominal rate in Hz.
    public var rate = 100.0
    /// Full scale in m/s².
    public var range = 2 * standardGravity
    /// Put the samples on the grid of the nominal rate, aligned to whole seconds of UTC.
    public var resample = false
    /// Run the chip's self-test each time the agent has started.
    public var selfTest = false
    public var mounting = MountingConfiguration()
    public var calibration = CalibrationConfiguration()
    public var iio = IIOConfiguration()
    public var i2c = I2CConfiguration()
    public var simulate = SimulateConfiguration()
    public var replay = ReplayConfiguration()
}

/// Which sensor axis, and with which sign, is the station's x, y, z.
public struct MountingConfiguration: Sendable, Equatable {
    /// Sensor axis 0, 1, 2 with sign, for the station's x, y, z: `+x` is (0, +1).
    public struct Source: Sendable, Equatable {
        public var axis: Int
        public var sign: Double
        public init(axis: Int, sign: Double) {
            self.axis = axis
            self.sign = sign
        }
    }
    public var sources = PerAxis(Source(axis: 0, sign: 1))
    /// Bearing of the station's y axis in degrees, clockwise from true north.
    public var north = 0.0
    /// Roll, pitch and yaw in degrees: the sensor as it lies, after the axis map, is turned back by these about x, then
    /// y, then z.
    public var rotation = PerAxis(0.0)
    /// Turn z to where gravity pulls from, as found at rest.
    public var level = false

    public init() {
        sources.y = Source(axis: 1, sign: 1)
        sources.z = Source(axis: 2, sign: 1)
    }
}

/// What the sensor itself gets wrong, in its own axes: true = matrix · (measured − offset).
public struct CalibrationConfiguration: Sendable, Equatable {
    /// m/s².
    public var offset = PerAxis(0.0)
    /// Scale on the diagonal, cross-axis beside it; rows.
    public var matrix: [Double] = [1, 0, 0, 0, 1, 0, 0, 0, 1]
}

/// Which accelerometer of the kernel's IIO subsystem, and how its buffer is paced.
public struct IIOConfiguration: Sendable, Equatable {
    public enum Trigger: String, Sendable, CaseIterable { case auto, device, hrtimer, sysfs, none }
    /// Name, label or id (`iio:device0`) of the device; `auto`: the first with the channels of an accelerometer.
    public var device = "auto"
    /// Context of libiio: `local:`, `ip:host`, `usb:`.
    public var uri = "local:"
    public var trigger = Trigger.auto
}

/// Which chip on which I2C bus.
public struct I2CConfiguration: Sendable, Equatable {
    /// Number of the bus, `/dev/i2c-1`.
    public var bus = 1
    /// Address of 7 bits; nil: each at which a chip that is known may be.
    public var address: Int?
    /// Name of the chip, or `auto`.
    public var chip = "auto"
    /// GPIO line on which the chip says that data are ready, `gpiochip0:17`; empty: none, the FIFO is read by time.
    public var dataReady = ""
}

public struct SimulateConfiguration: Sendable, Equatable {
    public enum Scenario: String, Sendable, CaseIterable {
        case quiet, quake, walk, tableKnock = "table-knock", sine, step, impulse
    }
    /// RMS of the sensor's own noise per axis in m/s².
    public var noise = 0.3e-3 * standardGravity
    public var scenario = Scenario.quiet
    public var seed: UInt64 = 1
    /// Amplitude in m/s² and frequency in Hz of `sine`, `step` and `impulse`.
    public var amplitude = standardGravity
    public var frequency = 1.0
}

public struct ReplayConfiguration: Sendable, Equatable {
    public enum Unit: String, Sendable, CaseIterable { case metresPerSecondSquared = "m/s^2", g }
    public var file = ""
    /// Times real time; 0 is as fast as possible.
    public var speed = 1.0
    public var loop = false
    /// m/s² per count of miniSEED integers, or per unit of the file; one for each axis. Nil: what the recording itself
    /// says, and 1 for samples that are no counts.
    public var scale: PerAxis<Double>?
    /// Unit of a CSV file's columns.
    public var unit = Unit.metresPerSecondSquared
}

public struct ConditioningConfiguration: Sendable, Equatable {
    public var offset = OffsetSpecification.highpass(corner: 0.1, order: 2)
    /// Seconds without detection after a start or a gap; nil: 1 s or what the filters need, whichever is longer.
    public var settle: Double?
}

public struct AxisConfiguration: Sendable, Equatable {
    public enum Signal: Sendable, Equatable {
        case sensor
        /// Amplitude in m/s², frequency in Hz below Nyquist.
        case sine(amplitude: Double, frequency: Double)
        case step(amplitude: Double)
        case impulse(amplitude: Double)
    }
    public var signal = Signal.sensor
    public var filter = FilterSpecification.butterworth(
        .init(band: .bandpass, corners: [0.5, 10], order: 2, start: .zero))
    public var detection = LevelConfiguration()
}

/// RMS and level detection of one axis by Shake's rule.
public struct LevelConfiguration: Sendable, Equatable {
    public var window = WindowLength.seconds(1)
    /// m/s².
    public var threshold = 5e-3 * standardGravity
    public var hold = WindowLength.seconds(0.2)
}

public struct IntensityConfiguration: Sendable, Equatable {
    public var scales: [IntensityRelation] = [.worden12, .jma]
    public var horizontal = HorizontalDefinition.larger
    /// Seconds over which the summary's peaks are taken.
    public var window = 10.0
    /// Seconds of the window that the sliding JMA intensity is computed from.
    public var jmaWindow = 60.0
}

public struct SpectrumConfiguration: Sendable, Equatable {
    /// Samples of a window at most, of this one and of the JMA intensity's.
    public static let longestWindow = 300_000
    /// Seconds of the window that the summary's spectrum is computed from.
    public var window = 20.0
    /// Hz; nothing below it counts.
    public var lowest = 0.1
}

public struct TraceConfiguration: Sendable, Equatable {
    public enum Signal: String, Sendable, CaseIterable { case raw, filtered, rms, triggered }
    public enum Encoding: String, Sendable, CaseIterable { case json, cbor, mseed }
    public var enabled = true
    /// Wanted rate in Hz; the nearest rate that divides the sensor's by an integer is used.
    public var rate = 20.0
    /// Seconds per message.
    public var block = 1.0
    public var signals = Signal.allCases
    /// The low pass before the decimation.
    public var filter = DecimationPhase.linear
    public var encoding = Encoding.json
    public var onlyInEvents = false
    public var qos = 1
}

public struct WaveformConfiguration: Sendable, Equatable {
    public enum Encoding: String, Sendable, CaseIterable {
        case mseed3Steim2 = "mseed3-steim2", mseed2Steim2 = "mseed2-steim2"
    }
    public var enabled = true
    public var encoding = Encoding.mseed3Steim2
    /// Seconds of data per message.
    public var chunk = 10.0
}

public struct MQTTConfiguration: Sendable, Equatable {
    public enum ProtocolVersion: String, Sendable, CaseIterable {
        /// 5 where nothing speaks against it.
        case auto
        case v5 = "5"
        case v311 = "3.1.1"
    }
    public struct TLS: Sendable, Equatable {
        public var caFile = ""
        public var certFile = ""
        public var keyFile = ""
        /// Name of the protocol for a server that tells several apart by it, such as `mqtt`; empty: none.
        public var alpn = ""
        public var minimumVersion = TLSVersion.v12
        public var pskIdentity = ""
        public var pskFile = ""
    }
    public enum TLSVersion: String, Sendable, CaseIterable { case v12 = "1.2", v13 = "1.3" }
    public struct HomeAssistant: Sendable, Equatable {
        public var enabled = true
        public var prefix = "homeassistant"
        public var discovery = HomeAssistantPlace.Form.device
    }
    /// `mqtt://host:port` or `mqtts://host:port`, tried in order.
    public var uris = ["mqtt://localhost:1883"]
    public var protocolVersion = ProtocolVersion.auto
    public var root = "seismote"
    public var username = ""
    /// Empty: that in the file.
    public var password = ""
    public var passwordFile = ""
    public var tls = TLS()
    /// Seconds.
    public var keepalive = 30
    public var reconnectMinimum = 1.0
    public var reconnectMaximum = 120.0
    /// Seconds the broker waits before it publishes the last will.
    public var willDelay = 15
    public var homeAssistant = HomeAssistant()
    public init() {}
}

/// What is kept over a restart, and where.
public struct StorageConfiguration: Sendable, Equatable {
    public var directory = "/var/lib/seismote"
    /// Megabytes (10⁶ bytes) of messages and waveforms.
    public var budget = 512
    /// Minutes of full-rate waveforms; 0: none.
    public var ringMinutes = 60
    /// Days that delivered events are kept.
    public var keepEventsDays = 30
    /// Messages a second.
    public var backfillRate = 50
}

public struct HealthConfiguration: Sendable, Equatable {
    /// Seconds.
    public var interval = 60.0
}

public struct LogConfiguration: Sendable, Equatable {
    public enum Level: String, Sendable, CaseIterable, Comparable {
        case debug, info, notice, warning, error
        public static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }
    public var level = Level.info
}
