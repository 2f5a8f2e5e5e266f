import ArgumentParser
import Messages
import Settings

/// `seismote ctl set`
struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change settings of stations.",
        discussion: """
            seismote ctl set basement-north trace.rate_hz=10 'axes.all.detection.threshold=5 mg'

            Values are YAML; an empty value takes the setting back to its default. All of a change is applied or nothing. \
            With --confirm it goes back by itself unless it is confirmed in time over a new connection, which this command \
            does when the station is there again: a station that a change has cut off comes back.
            """)

    @Argument(
        help: ArgumentHelp("Stations, and settings as key=value.", valueName: "station|key=value"),
        completion: .list(SettingsTable.writableKeys.map { $0 + "=" }))
    var words: [String]

    @OptionGroup var several: GroupOptions

    @Flag(help: "Check it and show what would change.")
    var dryRun = false

    @Option(help: ArgumentHelp("Go back after so long unless confirmed.", valueName: "s"))
    var confirm: Double?

    @Flag(help: "With --confirm: leave the confirmation to `seismote ctl confirm`.")
    var leavePending = false

    @Option(help: ArgumentHelp("Refuse unless this is the revision in force.", valueName: "rev"))
    var ifRev: Int?

    @OptionGroup var options: RequestOptions

    func validate() throws {
        if let confirm, !(confirm > 0 && confirm <= 86_400) { throw ValidationError("--confirm is a number above 0") }
        if leavePending, confirm == nil { throw ValidationError("--leave-pending goes with --confirm") }
    }

    func run() throws {
        let settings = words.filter { $0.contains("=") }
        guard !settings.isEmpty else { throw ValidationError("what to set? key=value") }
        let targets = try several.targets(words.filter { !$0.contains("=") })
        let patch: Value
        do {
            patch = try Settings.patch(settings)
        } catch {
            printError(error.text())
            throw exitBadSettings
        }
        var request = ConfigRequest(patch: patch, confirm: confirm, leavesPending: leavePending)
        request.members = [.init("set", patch)]
        if dryRun { request.onlyCheck() }
        if let ifRev { request.members.append(.init("if_rev", .int(Int64(ifRev)))) }
        try request.run(targets, options)
    }
}
