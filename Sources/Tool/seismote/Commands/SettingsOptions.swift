import ArgumentParser
import Glibc
import Messages
import Platform
import ServerOptions
import Settings
import Values

/// A patch of the words `KEY=VALUE`; prints what is wrong with them, and ends with status 78 then.
func patchOrExit(_ words: [String]) throws -> Value {
    do { return try Settings.patch(words) } catch { throw failure(error.text(), .settings) }
}

/// Options of every command that works with settings.
struct SettingsOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Settings file.", valueName: "file"))
    var config: String?

    @OptionGroup var below: LayerOptions

    /// The merged settings; when they are wrong, all errors go to standard error and the exit status is 78.
    func load(adding overrides: [String] = []) throws -> LoadedSettings {
        try below.load(path: config, adding: overrides)
    }

    /// The same with what was set remotely, as the agent takes it with this file.
    func inForce() throws -> LoadedSettings {
        do throws(CodedErrors) {
            let layers = try SettingsLayers(path: config, preset: below.preset, overrides: below.overrides)
            let now = Int64(time(nil)) * 1_000_000_000
            let (ledger, notes, _) = try SettingsLedger.stored(layers, now: now)
            for note in notes { printError(note.message) }
            return ledger.settings
        } catch { throw failure(error.text(fileName: config), .settings) }
    }
}

/// Settings below and above the settings file.
struct LayerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Settings below the file: \(Preset.all.map(\.name).joined(separator: ", ")), or a file.",
            valueName: "preset"))
    var preset: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Setting above the file, such as trace.rate_hz=10; may be repeated.", valueName: "key=value")
    )
    var overrides: [String] = []

    func load(path: String?, adding more: [String] = []) throws -> LoadedSettings {
        do {
            return try read(path: path, adding: more)
        } catch { throw failure(error.text(fileName: path), .settings) }
    }

    /// The same without a word to the terminal.
    func read(path: String?, adding more: [String] = []) throws(CodedErrors) -> LoadedSettings {
        try Settings.load(path: path, preset: preset, overrides: overrides + more)
    }
}

/// One or more lines to standard error.
func printError(_ text: String) { ProgramOutput.printError(text) }
