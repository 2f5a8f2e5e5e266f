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
