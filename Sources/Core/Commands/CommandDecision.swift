import Messages
import Settings

/// What is to be done about a command.
public enum CommandDecision: Sendable, Equatable {
    /// It is done: the result.
    case reply(Value)
    /// Somebody else does it; what comes of it is the reply.
    case effect(CommandEffect)
    case refuse([CodedError])
}

/// What a command asks of those who own a part of the agent.
public enum CommandEffect: Sendable, Equatable {
    // Of the owner of the settings.
    indirect case change(ConfigChange)
    case confirm(revision: Int?)
    case configGet
    // Of the main thread.
    /// All retained messages again.
    case rebirth
    /// The log over MQTT for a while.
    case log(LogConfiguration.Level, seconds: Double)
    case restart
    // Of the thread that samples.
    case resetExtremes
    case testEvent
    case calibrate(seconds: Double)
    case selfTest
    indirect case stream(TraceConfiguration, seconds: Double)
    case endStream
    // Of the thread that owns the alarm's line.
    case silence
    /// Steps of 0 and 1, each for so many seconds; nil: random ones.
    case alarmTest(String?, step: Double)
    // Of the thread that stores.
    /// Between two times (ns of UTC), as miniSEED on `topic`.
    case snapshot(from: Int64, to: Int64, topic: String)
    indirect case stored(StoredQuery)
    // Of both of these threads.
    indirect case confirmEvent(EventConfirmation)
}

/// A change of the configuration.
public struct ConfigChange: Sendable, Equatable {
    public var kind: SettingsLedger.Change
    public var ifRevision: Int?
    public var isDryRun = false
    /// Seconds until it goes back by itself.
    public var confirm: Double?

    /// The members that all changes have; see ``CommandMember/change``.
    init(_ kind: SettingsLedger.Change, _ members: CommandMembers) {
        self.kind = kind
        ifRevision = members.whole("if_rev")
        isDryRun = members.flag("dry_run")
        confirm = members.number("confirm_s")
    }
}

extension CommandMember {
    /// Of all commands that change the configuration.
    static let change = [
        CommandMember("if_rev", .whole(0...Int(Int32.max)), "refused unless this revision is in force"),
        CommandMember("dry_run", .flag, "only checks the change and shows what would come of it"),
        CommandMember("confirm_s", .number(CommandLimits.confirm, unit: "s"), "goes back unless confirmed in time"),
    ]
}
