import Messages

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
