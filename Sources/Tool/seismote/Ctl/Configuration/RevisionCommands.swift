import ArgumentParser
import Commands
import Values

/// `seismote ctl rollback`
struct RollbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: Command.configRollback.help,
        discussion:
            "seismote ctl rollback basement --to 12\n\nThe latest ten are stored: `seismote ctl get --revisions`.")

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("The revision (default: the previous one).", valueName: "rev"))
    var to: Int?

    @OptionGroup var change: ChangeOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        let members: [Value.Member] = to.map { [.init("to_rev", .int(Int64($0)))] } ?? []
        try change.request("config-rollback", members).run(try targets.targets(), options)
    }
}

/// `seismote ctl reset`
struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: Command.configReset.help,
        discussion: "seismote ctl reset basement")

    @OptionGroup var targets: TargetOptions

    @OptionGroup var change: ChangeOptions
    @OptionGroup var options: RequestOptions

    func run() throws { try change.request("config-reset").run(try targets.targets(), options) }
}

/// `seismote ctl confirm`
struct ConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm", abstract: Command.configConfirm.help,
        discussion: "seismote ctl confirm basement")

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("The revision (default: the pending one).", valueName: "rev"))
    var rev: Int?

    @OptionGroup var options: RequestOptions

    func run() throws {
        let request: Value = rev.map { ["rev": .int(Int64($0))] } ?? [:]
        try options.run("config-confirm", request, try targets.targets()) { reply in
            "rev \((reply.result["rev"]?.whole ?? reply.revision).map(String.init) ?? "?") confirmed"
        }
    }
}
