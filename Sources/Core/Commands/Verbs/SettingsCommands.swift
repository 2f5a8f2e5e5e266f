import Messages
import Settings

/// Order to the owner of the settings.
public enum SettingsOrder: Sendable, Equatable {
    indirect case change(ConfigChange)
    case confirm(revision: Int?)
    /// All that is in force, and where it comes from.
    case show
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

/// Commands for the owner of the settings.
extension Command {
    public static let config = Command(
        "config", "Change settings of stations.",
        members: [.init("set", .object, "an object with the settings to change", isNeeded: true)]
            + CommandMember.change,
        result: "see below"
    ) { request, _ in
        .effect(.settings(.change(ConfigChange(.merge(request.members["set"] ?? [:]), request.members))))
    }

    public static let configConfirm = Command(
        "config-confirm", "Confirm a change that would go back by itself.",
        members: [.init("rev", .whole(0...Int(Int32.max)), "the revision; else whatever is pending")],
        result: "`rev`"
    ) { request, _ in .effect(.settings(.confirm(revision: request.members.whole("rev")))) }

    public static let configRollback = Command(
        "config-rollback", "Go back to an earlier revision of the settings.",
        members: [
            .init("to_rev", .whole(0...Int(Int32.max)), "the revision; else the last good one that differs")
        ] + CommandMember.change,
        result: "as `config`"
    ) { request, _ in
        .effect(.settings(.change(ConfigChange(.rollback(to: request.members.whole("to_rev")), request.members))))
    }

    public static let configReset = Command(
        "config-reset", "Drop everything that was set remotely.", members: CommandMember.change, result: "as `config`"
    ) { request, _ in .effect(.settings(.change(ConfigChange(.reset, request.members)))) }

    static let configGet = Command(
        "config-get", "Show the settings in force, where they come from, and the revisions.",
        result: "`rev`, `sha256`, `config`, `sources`, `overlay`, `pending`, `needs_restart`, `locked`, `revisions`, "
            + "`rejected`",
        onlyTells: true
    ) { _, _ in .effect(.settings(.show)) }
}
