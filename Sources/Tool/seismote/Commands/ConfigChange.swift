import ArgumentParser
import Messages
import Settings
import Values

/// `seismote config preset NAME`
struct ConfigPreset: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preset", abstract: "Put a preset into a settings file, which keeps all else.",
        discussion: """
            What the preset sets is changed, what another preset has set goes back to its default, and all else stays as it
            is: the station, its broker, its account, its files. Prints the difference.

            sudo seismote config preset construction
            sudo systemctl restart seismote
            """)

    @Argument(help: "\(Preset.all.map(\.name).joined(separator: ", ")).")
    var name: String

    @OptionGroup var file: ChangedFile

    func validate() throws {
        let names = Preset.all.map(\.name)
        guard names.contains(name) else {
            throw ValidationError("There is no preset `\(name)`; available: \(names.joined(separator: ", ")).")
        }
    }

    func run() throws {
        try file.change(SetupAnswers.presetPatch(name), unchanged: "has the preset \(name) already")
    }
}

/// `seismote config set KEY=VALUE...`
struct ConfigSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change settings in a settings file, which keeps all else.",
        discussion: """
            Values are YAML; an empty value takes the setting out, back to its default. All of a change is written or nothing. \
            Prints the difference. What was set remotely stays in force above the file.

            sudo seismote config set mqtt.uri=mqtts://broker.local:8883 mqtt.tls.ca_file=/etc/seismote/ca.pem
            sudo systemctl restart seismote
            """)

    @Argument(
        help: ArgumentHelp("Settings.", valueName: "key=value"),
        completion: .list(SettingsTable.writableKeys.map { $0 + "=" }))
    var settings: [String]

    @OptionGroup var file: ChangedFile

    func run() throws {
        try file.change(patchOrExit(settings), unchanged: "already has these values")
    }
}

/// A settings file that a command changes.
struct ChangedFile: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Settings file.", valueName: "file"))
    var config = "/etc/seismote/seismote.yaml"

    @Flag(help: "Print the difference and write nothing.")
    var dryRun = false

    /// Writes the file with a patch, if it is valid then, and prints the difference.
    ///
    /// - Parameter unchanged: what is said of a file in which nothing changes.
    func change(_ patch: Value, unchanged: String) throws {
        do throws(CtlError) { try write(patch, unchanged) } catch {
            printError(error.message)
            throw ExitCode(error.status.rawValue)
        }
    }

    private func write(_ patch: Value, _ unchanged: String) throws(CtlError) {
        let old = SmallFiles.text(config) ?? ""
        var change = FileChange(path: config, text: old)
        func wrong(_ problem: String) -> CtlError {
            CtlError(status: .files, "\(config): \(problem); nothing is written")
        }
        do throws(CodedError) { change.text = try SettingsEdit.edit(old, patch) } catch {
            throw wrong(error.message)
        }
        do throws(CodedErrors) { _ = try Settings.load(file: Array(change.text.utf8)) } catch {
            throw wrong(error.text(fileName: config))
        }
        let difference = try change.difference()
        guard !difference.isEmpty else { return print("\(config): \(unchanged)") }
        print(difference)
        guard !dryRun else { return }
        try change.write()
        print("\(config): written; now: sudo systemctl restart seismote")
    }
}
