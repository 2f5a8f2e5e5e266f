import ArgumentParser
import Commands
import Values

/// `seismote ctl label`
struct LabelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "label", abstract: Command.label.help,
        discussion: """
            seismote ctl label basement-north-20260105T102030120Z footsteps

            Labels: \(Command.labels.joined(separator: ", ")); none takes a label away. \
            `seismote ctl events --labelled --export FOLDER` writes what has one, for a new fit of the classification.
            """)

    @Argument(help: ArgumentHelp("Its id, as `events --json` has it.", valueName: "event-id"))
    var id: String

    @Argument(help: "What it was.", completion: .list(Command.label.member("label")?.words ?? []))
    var label: String

    @OptionGroup var options: RequestOptions

    func validate() throws {
        try EventCommand.check(id)
        let words = Command.label.member("label")?.words ?? []
        guard words.contains(label) else {
            throw ValidationError("\(label): must be \(words.joined(separator: ", "))")
        }
    }

    func run() throws {
        let request: Value = ["event_id": .string(id), "label": .string(label)]
        try options.run("label", request, .stations([EventCommand.station(of: id)])) { reply in
            "label of \(id): \(reply.result["label"]?.text ?? label)"
        }
    }
}
