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

    @Option(name: .shortAndLong, help: ArgumentHelp("Settings file.", valueName: "file"))
    var config = "/etc/seismote/seismote.yaml"

    @Flag(help: "Print the difference and write nothing.")
    var dryRun = false

    func validate() throws {
        let names = Preset.all.map(\.name)
        guard names.contains(name) else {
            throw ValidationError("There is no preset `\(name)`; available: \(names.joined(separator: ", ")).")
        }
    }

    func run() throws {
        do throws(CtlError) { try change() } catch {
            printError(error.message)
            throw ExitCode(error.status.rawValue)
        }
    }

    private func change() throws(CtlError) {
        let old = SmallFiles.text(config) ?? ""
        var change = FileChange(path: config, text: old)
        func wrong(_ problem: String) -> CtlError {
            CtlError(status: .files, "\(config): \(problem); nothing is written")
        }
        do throws(CodedError) { change.text = try SettingsEdit.edit(old, SetupAnswers.presetPatch(name)) } catch {
            throw wrong(error.message)
        }
        do throws(CodedErrors) { _ = try Settings.load(file: Array(change.text.utf8)) } catch {
            throw wrong(error.text(fileName: config))
        }
        let difference = try change.difference()
        guard !difference.isEmpty else { return print("\(config): has the preset \(name) already") }
        print(difference)
        guard !dryRun else { return }
        try change.write()
        print("\(config): written; now: sudo systemctl restart seismote")
    }
}
