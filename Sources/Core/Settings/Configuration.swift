import Instruments
import Messages
import Seismology
import SignalProcessing

/// The whole of an agent's settings, decoded and valid: one immutable snapshot that travels through the agent.
/// All numbers are SI (m/s², m/s, Hz, s). The parts are beside their rows in the table of
/// settings; those of the sensor are in `Instruments`, those of the detectors beside what they are for.
public struct Configuration: Sendable, Equatable {
    public var station = StationIdentity()
    public var sensor = SensorConfiguration()
    public var conditioning = ConditioningConfiguration()
    /// x, y and z.
    public var axes = PerAxis(AxisConfiguration())
    public var detection = DetectionConfiguration()
    public var classification = ClassificationConfiguration()
    public var alarm = AlarmConfiguration()
    public var onsite = OnsiteConfiguration()
    public var intensity = IntensityConfiguration()
    public var spectrum = SpectrumConfiguration()
    public var vibration = VibrationConfiguration()
    public var trace = TraceConfiguration()
    public var waveform = WaveformConfiguration()
    public var mqtt = MQTTConfiguration()
    public var storage = StorageConfiguration()
    public var health = HealthConfiguration()
    public var log = LogConfiguration()

    public init() {}
}
