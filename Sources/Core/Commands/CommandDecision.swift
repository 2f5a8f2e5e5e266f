import Messages
import Settings
import Values

/// Decision on a command.
public enum CommandDecision: Sendable, Equatable {
    /// It is done: the result.
    case reply(Value)
    /// An owner does it; what comes of it is the reply.
    case effect(CommandEffect)
    case refuse([CodedError])
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
    /// Common members of all commands that change the configuration.
    static let change = [
        CommandMember("if_rev", .whole(0...Int(Int32.max)), "refused unless this revision is in force"),
        CommandMember("dry_run", .flag, "only checks the change and shows what would come of it"),
        CommandMember("confirm_s", .number(CommandLimits.confirm, unit: "s"), "goes back unless confirmed in time"),
    ]
}
