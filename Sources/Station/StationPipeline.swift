import Messages
import Settings
import SignalProcessing

/// The whole path of one station's samples: blocks in, messages out. Pure: no clock, no file, no socket; it is driven
/// by the time of the samples alone, so that replay and live run the very same code.
public struct StationPipeline {
    /// - Parameters:
    ///   - configuration: a valid snapshot.
    ///   - rate: samples per second of the sensor.
    ///   - boot: UUID of this run, as text; goes into every message.
    public init(configuration: Configuration, rate: Double, boot: String) throws(StationError) {
    }

    /// Takes one block and hands every message that it completes to the sink, in the order of sample time.
    public mutating func process(_ block: SampleBlock, to sink: PublicationSink) {
    }

    /// Closes an open event and sends what is still held back; for the end of a recording or an orderly stop.
    public mutating func finish(to sink: PublicationSink) {
    }
}

/// Settings that cannot work at the sensor's actual rate.
public struct StationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Path of the setting, such as `/axes/x/filter`.
    public var path: String
    public var message: String
    public var description: String { "\(path): \(message)" }
}
