import Messages
import Seismology
import Sensors
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
        /// Name of a protocol; empty: none.
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
