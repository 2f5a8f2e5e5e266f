import Messages
import Settings

/// A command that could be read whole: everything in it has the right type and is within its bounds.
public struct CommandRequest: Sendable, Equatable {
    /// What is to be done, with the fields of its verb.
    public enum Action: Sendable, Equatable {
        case change(ConfigChange)
        case confirm(revision: Int?)
        case configGet
        case snapshot(Span)
        /// The fields of `trace` that were given, and how long (s).
        case stream(Value, seconds: Double)
        case resetExtremes
        case calibrate(seconds: Double)
        case selfTest
        case testEvent
        case alerts, status, rebirth, ping, restart
        case log(LogConfiguration.Level, seconds: Double)
    }

    /// A change of the configuration.
    public struct ConfigChange: Sendable, Equatable {
        public enum Kind: Sendable, Equatable {
            case merge(Value)
            case reset
            case rollback(to: Int?)
        }
        public var kind: Kind
        public var ifRevision: Int?
        public var isDryRun = false
        /// Seconds until it goes back by itself.
        public var confirm: Double?
    }

    /// A past interval.
    public enum Span: Sendable, Equatable {
        /// Nanoseconds of UTC.
        case between(Int64, Int64)
        /// Seconds until now.
        case last(Double)
    }

    public var verb: Verb
    public var action: Action
    public var id: String?
    /// Nanoseconds of UTC.
    public var expires: Int64?
    /// Who asks, for the log.
    public var source = ""
    /// Nil: it was sent to this station alone.
    public var group: String?
    /// The same for the same command, whatever its id, expiry and source.
    public var digest = ""
    public var destination: ReplyDestination?
    /// Of its payload.
    public var bytes = 0
    /// Number of the connection that it came over.
    public var connection: UInt64 = 0
}
