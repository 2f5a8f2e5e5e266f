import Messages
import Values

/// A command that could be read whole: everything in it has the right type and is within its bounds.
public struct CommandRequest: Sendable, Equatable {
    public var command: Command
    public var members: CommandMembers
    public var id: String?
    /// Nanoseconds of UTC.
    public var expires: Int64?
    /// Sender, for the log.
    public var source = ""
    /// Nil: it was sent to this station alone.
    public var group: String?
    /// The same for the same command, whatever its id, expiry and source.
    public var digest = ""
    public var destination: ReplyDestination?
    /// Size of its payload, bytes.
    public var bytes = 0
    /// Number of the connection that it came over.
    public var connection: UInt64 = 0

    /// Decides on the request. Pure: nothing happens by asking.
    public func decision(_ context: CommandContext) -> CommandDecision { command.decide(self, context) }
}

/// Facts about the agent for a command; read only, as of the moment at which it is carried out.
public struct CommandContext {
    /// Revision of the settings in force.
    public var revision: Int
    /// UUID of this run.
    public var boot: String
    /// Seconds since the start.
    public var uptime: Double
    /// Nanoseconds of UTC.
    public var wall: Int64
    public var topics: Topics
    /// Samples per second of the sensor, else of the settings.
    public var rate: Double
    /// Confirmations of the station's events by a network are accepted (`detection.event.confirmation`).
    public var takesConfirmations: Bool
    /// Obstacles to an update.
    public var update: UpdateSituation
    /// The faults that there are now.
    public var alerts: [AlertMessage]
    /// The host's clock as far as the kernel knows it; `offset`: nanoseconds that it is behind its source, nil where that is
    /// not known.
    public var clock: () -> (quality: TimeQuality, offset: Int?)
    /// As `state/health`.
    public var status: () -> Value

    public init(
        revision: Int, boot: String, uptime: Double, wall: Int64, topics: Topics, rate: Double,
        takesConfirmations: Bool, alerts: [AlertMessage], update: UpdateSituation = UpdateSituation(),
        clock: @escaping () -> (quality: TimeQuality, offset: Int?), status: @escaping () -> Value
    ) {
        (self.revision, self.boot, self.uptime, self.wall, self.topics) = (revision, boot, uptime, wall, topics)
        (self.rate, self.takesConfirmations, self.alerts) = (rate, takesConfirmations, alerts)
        (self.update, self.clock, self.status) = (update, clock, status)
    }
}

/// Decision on a command.
public enum CommandDecision: Sendable, Equatable {
    /// It is done: the result.
    case reply(Value)
    /// An owner does it; what comes of it is the reply.
    case effect(CommandEffect)
    case refuse([CodedError])
}

/// Effect of a command: a task for the owner of a part of the agent, who gets the value in the braces as it is.
public enum CommandEffect: Sendable, Equatable {
    case settings(SettingsOrder)
    case main(MainOrder)
    case sampling(SamplingOrder)
    case alarm(AlarmOrder)
    case storage(StorageOrder)
    /// The reply is what the storage says.
    case both(SamplingOrder, StorageOrder)
}
