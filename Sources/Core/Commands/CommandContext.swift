import Messages
import Values

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
