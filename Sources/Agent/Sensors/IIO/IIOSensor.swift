import Instruments
import SignalProcessing

/// An accelerometer of the kernel's IIO subsystem, on this machine or behind iiod on another one.
struct IIOSensor: SensorDriver {
    private let settings: SensorConfiguration
    private let clock: any SensorClock
    private var session: IIOSession?
    /// Kept while the sensor is away: its rate does not change by that.
    private var timebase: Timebase?
    private var nominal = 0.0
    private var proven: Pacing?

    init(_ settings: SensorConfiguration, clock: any SensorClock = SystemSensorClock()) {
        self.settings = settings
        self.clock = clock
    }

    mutating func open() throws(SensorError) -> SensorDescription {
        close()
        let session = try IIOSession(settings, clock, proven: proven)
        if nominal == session.description.rate {
            timebase?.interrupt()
        } else {
            timebase = nil
        }
        nominal = session.description.rate
        session.timebase = timebase ?? Timebase(nominalRate: nominal)
        self.session = session
        proven = session.pacing
        return session.description
    }

    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        guard let session else { throw SensorError(.fault, "the IIO sensor is not open") }
        try session.read(into: &block)
        return .samples
    }

    mutating func close() {
        if let session { timebase = session.timebase }
        session = nil
    }

    var condition: SensorCondition { session?.condition ?? SensorCondition() }
}
