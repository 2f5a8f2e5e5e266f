import ArgumentParser
import Messages
import Platform
import ServerOptions
import Settings
import Values

/// `seismote config ...`: everything about settings without an agent.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check, print and explain settings.",
        subcommands: [
            ConfigCheck.self, ConfigDefault.self, ConfigPreset.self, ConfigSet.self, ConfigExplain.self,
            ConfigSchema.self, ConfigManual.self,
        ])
}

/// `seismote config check FILE`
struct ConfigCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a settings file.",
        discussion:
            "seismote config check seismote.yaml\n\nPrints every error to standard error. The exit status is 78 when there is one."
    )

    @Argument(help: "The settings file (YAML or JSON).")
    var file: String

    @OptionGroup var layers: LayerOptions

    @Flag(help: "Print {\"ok\", \"errors\", \"config\", \"sources\"} as JSON on standard output.")
    var json = false

    @Flag(help: "Check each line of standard input as a separate document, and print one line of JSON for each.")
    var lines = false

    func run() throws {
        if lines { return try checkLines() }
        guard json else {
            let loaded = try layers.load(path: file)
            let count = loaded.origins.count
            for word in loaded.renamed { printError("\(file): warning: \(word)") }
            print("\(file): valid; \(count) of \(SettingsTable.concreteCount) settings given, the rest at default")
            return
        }
        do throws(CodedErrors) {
            let loaded = try layers.read(path: file)
            let sources = loaded.sources.sorted { $0.key < $1.key }.map {
                Value.Member($0.key, .string($0.value.rawValue))
            }
            show(["ok": true, "errors": [], "config": loaded.effective, "sources": .object(sources)])
        } catch {
            show(["ok": false, "errors": .array(error.errors.map(\.value))])
            throw ExitStatus.settings.code
        }
    }

    private func checkLines() throws {
        guard file == "-" else { throw ValidationError("--lines reads standard input: give `-` as the file.") }
        while let line = readLine() {
            do throws(CodedErrors) {
                _ = try Settings.load(file: Array(line.utf8))
                show(["ok": true])
            } catch {
                show(["ok": false, "errors": .array(error.errors.map(\.value))])
            }
        }
    }

    private func show(_ value: Value) { print(String(decoding: value.json(), as: UTF8.self)) }
}

/// `seismote config default`
struct ConfigDefault: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default", abstract: "Print the annotated settings file with all defaults, or a preset.",
        discussion: "seismote config default --preset construction")

    @Option(help: "Print this preset instead: \(Preset.all.map(\.name).joined(separator: ", ")).")
    var preset: String?

    func run() throws {
        guard let preset else { return print(DefaultFile.text, terminator: "") }
        guard let found = Preset.all.first(where: { $0.name == preset }) else {
            let names = Preset.all.map(\.name).joined(separator: ", ")
            throw ValidationError("There is no preset `\(preset)`; available: \(names).")
        }
        print(found.text, terminator: "")
    }
}

/// `seismote config schema`
struct ConfigSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of settings files.",
        discussion: "seismote config schema > seismote.schema.json")

    func run() { print(String(decoding: SettingsSchema.value.json(), as: UTF8.self)) }
}

/// `seismote config manual`
struct ConfigManual: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Print the documentation of all settings as Markdown.",
        discussion: "seismote config manual > settings.md")

    func run() { print(SettingsManual.text, terminator: "") }
}

/// `seismote config explain KEY`
struct ConfigExplain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain a setting: its meaning, its value, and where the value comes from.",
        discussion:
            "seismote config explain trace.rate_hz\n\nIncludes remote changes if their file (in storage.directory) can be read."
    )

    @Argument(help: "Key of a setting or of a group, such as trace.rate_hz, axes.x.filter or mqtt.")
    var key: String

    @OptionGroup var options: SettingsOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let loaded = try options.inForce()
        let explanations: [SettingExplanation]
        do throws(CodedError) {
            explanations = try SettingExplanation.of(key, in: loaded)
        } catch { throw failure(error.text(), .settings) }
        if json {
            let all = Value.array(explanations.map(\.value))
            print(String(decoding: all.json(), as: UTF8.self))
        } else {
            print(explanations.map { $0.text(fileName: options.config) }.joined(separator: "\n\n"))
        }
    }
}

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
