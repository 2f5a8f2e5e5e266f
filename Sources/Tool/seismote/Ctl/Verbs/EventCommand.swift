import ArgumentParser
import Commands
import Messages
import Values

/// `seismote ctl event`
struct EventCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "One event of the past, with -o also its waveform.",
        discussion: """
            seismote ctl event basement-north-20260105T102030120Z -o event.mseed

            The station is the part of the id before the time. The file is written only if it is complete: its size and digest \
            must match the station's.
            """)

    @Argument(help: ArgumentHelp("Its id, as `events --json` has it.", valueName: "event-id"))
    var id: String

    @Option(name: .shortAndLong, help: ArgumentHelp("File for the waveform (miniSEED).", valueName: "file"))
    var output: String?

    @OptionGroup var options: RequestOptions

    /// The id without `-20260105T102030120Z`.
    static func station(of id: String) -> String { String(id.dropLast(20)) }

    static func check(_ id: String) throws {
        guard Topics.problem(inID: station(of: id)) == nil, id.hasSuffix("Z") else {
            throw ValidationError(
                "\(id): an event's id is the station's with a time, such as basement-20260105T102030120Z")
        }
    }

    private var station: String { Self.station(of: id) }

    func validate() throws { try Self.check(id) }

    func run() throws {
        let request: Value = ["event_id": .string(id), "waveform": .bool(output != nil)]
        guard let output else {
            return try options.run("event", request, .stations([station])) { reply in
                let event = reply.result.event ?? .null
                return EventLine.text(station, StationEventMembers(event)) + "\n" + readable(event)
            }
        }
        try ctl {
            let fetch = WaveformFetch(
                verb: "event", request: request, targets: .stations([station]), output: output, isFolder: false,
                options: options, nothing: "the event has no waveform")
            return try fetch.run()
        }
    }
}

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
            "label of \(id): \(reply.result.label?.printable ?? label)"
        }
    }
}
