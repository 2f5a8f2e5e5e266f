import ArgumentParser
import Messages

/// Options of every command that changes settings.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Check the change and show what it would do, without applying it.")
    var dryRun = false

    @Option(
        help: ArgumentHelp("Revert the change after this time, 1 to 3600 s, unless it is confirmed.", valueName: "s"))
    var confirm: Double?

    @Flag(help: "With --confirm: do not confirm; that is left to `seismote ctl confirm`.")
    var leavePending = false

    @Option(help: ArgumentHelp("Refuse unless this is the revision in force.", valueName: "rev"))
    var ifRev: Int?

    func validate() throws {
        if let confirm, !CommandLimits.confirm.contains(confirm) {
            throw ValidationError("--confirm must be from 1 to 3600")
        }
        if leavePending, confirm == nil { throw ValidationError("--leave-pending needs --confirm") }
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
