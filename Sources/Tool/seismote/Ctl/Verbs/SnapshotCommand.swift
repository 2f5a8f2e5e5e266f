import ArgumentParser
import Commands
import Glibc
import Values

/// `seismote ctl snapshot`
struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: Command.snapshot.help,
        discussion: """
            seismote ctl snapshot basement-north --last 60 -o shake.mseed

            The file is written only if it is complete: its size and digest must match the station's. For several stations \
            --output is a folder.
            """)

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("The last seconds before now.", valueName: "s"))
    var last: Double?

    @Option(help: ArgumentHelp("From this time, such as 2026-01-05T10:20:00Z.", valueName: "time"))
    var from: String?

    @Option(help: ArgumentHelp("To this time.", valueName: "time"))
    var to: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("File, or folder for several stations.", valueName: "file"))
    var output: String

    @OptionGroup var options: RequestOptions

    func validate() throws {
        if let last {
            guard from == nil, to == nil else { throw ValidationError("--last excludes --from and --to") }
            try Command.snapshot.check("last_s", last, option: "last")
        } else {
            guard let from, let to else { throw ValidationError("no time given: add --last, or --from and --to") }
            for time in [from, to] where Timestamp(time) == nil {
                throw ValidationError("\(time) is not a time such as 2026-01-05T10:20:00Z")
            }
        }
    }

    func run() throws {
        let targets = try targets.targets()
        var isFolder = false
        var status = stat()
        if stat(output, &status) == 0 { isFolder = status.st_mode & S_IFMT == S_IFDIR }
        if case .stations(let one) = targets, one.count == 1 {
        } else if !isFolder {
            throw ValidationError("--output must be an existing folder when there are several stations")
        }
        var request: Value = ["from": .string(from ?? ""), "to": .string(to ?? "")]
        if let last { request = ["last_s": .double(last)] }
        try ctl {
            let fetch = WaveformFetch(
                verb: "snapshot", request: request, targets: targets, output: output, isFolder: isFolder,
                options: options, nothing: "no data was recorded in that interval")
            return try fetch.run()
        }
    }
}
