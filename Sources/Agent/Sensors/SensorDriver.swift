import Instruments
import SignalProcessing

/// A source of three-axis acceleration. Three phases: made from settings (pure, no I/O), `open` (may fail and is
/// then tried again with growing pauses, never the end of the agent), `read` (hot: no allocation, no logging).
public protocol SensorDriver {
    /// Finds and prepares the sensor.
    mutating func open() throws(SensorError) -> SensorDescription
    /// Waits until the next block is complete and puts it into `block` (which is emptied first), in m/s².
    /// Live drivers return after at most the duration of a block, so that the caller can stop in time.
    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome
    /// Gives back what `open` took; `open` may be called again.
    mutating func close()
    /// Measurements and counts since `open`; to be asked for between two reads, cheap.
    var condition: SensorCondition { get }
    /// The chip's own self-test, by its maker's procedure; the sensor has to be open, is at rest, and goes on with a
    /// gap. `unsupported` where the driver or the chip has none.
    mutating func selfTest() throws(SensorError) -> SelfTestReport
}

extension SensorDriver {
    public var condition: SensorCondition { SensorCondition() }

    public mutating func selfTest() throws(SensorError) -> SelfTestReport {
        throw SensorError(.unsupported, "this sensor has no self-test")
    }
}

public enum ReadOutcome: Sendable, Equatable {
    /// The block holds at least one sample.
    case samples
    /// The recording is over; the block is empty.
    case end
}

/// A sensor that cannot be opened or read: a code for the wire, and a sentence for people that names the object.
public struct SensorError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// No such device or file.
        case missing
        /// Not permitted.
        case permission
        /// The device answers wrongly or not at all.
        case fault
        /// A recording that is broken or of the wrong kind.
        case format
        /// Somebody else has it: a kernel driver, another program.
        case busy
        /// The device answers, but is not what the settings say or what it was.
        case identity
        /// The device or the program cannot do what is asked.
        case unsupported
    }
    public var code: Code
    public var message: String
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
    public var description: String { message }
}

/// Makes the driver that the settings ask for.
public enum SensorChoice {
    public static func driver(_ configuration: SensorConfiguration) -> any SensorDriver {
        let sensor = plainDriver(configuration)
        return configuration.resample ? ResampledSensor(sensor, rate: configuration.rate) : sensor
    }

    static func plainDriver(_ configuration: SensorConfiguration) -> any SensorDriver {
        switch configuration.driver {
        case .simulate: SimulateSensor(configuration)
        case .replay: ReplaySensor(configuration.replay)
        case .i2c: I2CSensor(configuration)
        case .iio: IIOSensor(configuration)
        case .auto: AutoSensor(configuration)
        }
    }

    /// Times real time at which samples come; 0 is as fast as possible.
    public static func speed(_ configuration: SensorConfiguration) -> Double {
        configuration.driver == .replay ? configuration.replay.speed : 1
    }

    /// Whether the samples come from a chip, and are not made up or played.
    public static func isHardware(_ configuration: SensorConfiguration) -> Bool {
        configuration.driver != .simulate && configuration.driver != .replay
    }
}

/// `driver: auto`: looks what there is when it is opened and takes the first accelerometer, by the kernel's driver before
/// the bare chip; see ``Survey/choice``. What it has taken it tries first when it is opened again.
struct AutoSensor: SensorDriver {
    private let configuration: SensorConfiguration
    private let survey: () -> Survey
    private let make: (SensorConfiguration) -> any SensorDriver
    private var driver: (any SensorDriver)?

    /// - Parameters: for tests, what there is, and what is made of the settings.
    init(
        _ configuration: SensorConfiguration,
        survey: @escaping () -> Survey = { Survey.ofThisMachine(everything: false) },
        make: @escaping (SensorConfiguration) -> any SensorDriver = SensorChoice.plainDriver
    ) {
        self.configuration = configuration
        self.survey = survey
        self.make = make
    }

    mutating func open() throws(SensorError) -> SensorDescription {
        if driver != nil, let again = try? driver?.open() { return again }
        close()
        driver = nil
        let found = survey()
        guard let choice = found.choice else { throw found.problem }
        var chosen = configuration
        switch choice.place {
        case .iio(let device):
            chosen.driver = .iio
            (chosen.iio.device, chosen.iio.uri) = (device, "local:")
        case .i2c(let bus, let address):
            chosen.driver = .i2c
            (chosen.i2c.bus, chosen.i2c.address, chosen.i2c.chip) = (bus, address, choice.chip)
        }
        var made = make(chosen)
        let description = try made.open()
        driver = made
        return description
    }

    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        guard driver != nil else {
            block.removeAll()
            throw SensorError(.missing, "no accelerometer is open")
        }
        return try driver?.read(into: &block) ?? .end
    }

    mutating func close() { driver?.close() }

    var condition: SensorCondition { driver?.condition ?? SensorCondition() }

    mutating func selfTest() throws(SensorError) -> SelfTestReport {
        guard let report = try driver?.selfTest() else { throw SensorError(.missing, "no accelerometer is open") }
        return report
    }
}
