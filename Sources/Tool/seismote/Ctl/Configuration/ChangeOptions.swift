import ArgumentParser
import Messages
import Values

/// Options of every command that changes settings.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Check the change and show what it would do, without applying it.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "The change reverts after this time, 1 to 3600 s, unless the station can be reached again: this command looks, and "
                + "confirms it.", valueName: "s"))
    var autoRevert: Double?

    /// The name of earlier versions, which was misunderstood: it confirms by itself.
    @Option(name: .customLong("confirm"), help: ArgumentHelp("Former name of --auto-revert.", visibility: .hidden))
    var former: Double?

    private var confirm: Double? { autoRevert ?? former }

    @Flag(help: "With --auto-revert: do not confirm; that is left to `seismote ctl confirm`.")
    var leavePending = false

    @Option(help: ArgumentHelp("Refuse unless this is the revision in force.", valueName: "rev"))
    var ifRev: Int?

    func validate() throws {
        if let confirm, !CommandLimits.confirm.contains(confirm) {
            throw ValidationError("--auto-revert must be from 1 to 3600")
        }
        if leavePending, confirm == nil { throw ValidationError("--leave-pending needs --auto-revert") }
    }

    /// The request with these options.
    /// - Parameters:
    ///   - members: what the verb needs.
    ///   - patch: the settings that it changes, where it says them.
    ///   - shown: the revision that the change was made for.
    func request(
        _ verb: String, _ members: [Value.Member] = [], patch: Value = [:], shown: Int? = nil
    ) -> ConfigRequest {
        var request = ConfigRequest(
            verb: verb, patch: patch, members: members, confirm: confirm, leavesPending: leavePending)
        if dryRun { request.onlyCheck() }
        if let revision = ifRev ?? shown { request.members.append(.init("if_rev", .int(Int64(revision)))) }
        return request
    }
}
