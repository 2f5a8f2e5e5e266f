import ArgumentParser
import Commands
import Settings
import Values

/// `seismote ctl set`
struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: Command.config.help,
        discussion: """
            seismote ctl set basement-north trace.rate_hz=10 'axes.all.detection.threshold=5 mg'

            Values are YAML; an empty value takes the setting back to its default. All of a change is applied or nothing. \
            With --auto-revert the station goes back by itself unless this command reaches it again in time over a new \
            connection, and confirms: a station that a change has cut off comes back.
            """)

    @Argument(
        help: ArgumentHelp("Stations, and settings as key=value.", valueName: "station|key=value"),
        completion: .list(SettingsTable.writableKeys.map { $0 + "=" }))
    var words: [String]

    @OptionGroup var several: GroupOptions

    @OptionGroup var change: ChangeOptions
    @OptionGroup var options: RequestOptions

    private var settings: [String] { words.filter { $0.contains("=") } }

    private func targets() throws -> Targets { try several.targets(words.filter { !$0.contains("=") }) }

    func validate() throws {
        guard !settings.isEmpty else { throw ValidationError("no setting given: add key=value") }
        _ = try targets()
    }

    func run() throws {
        let targets = try targets()
        let patch = try patchOrExit(settings)
        try change.request("config", [.init("set", patch)], patch: patch).run(targets, options)
    }
}
