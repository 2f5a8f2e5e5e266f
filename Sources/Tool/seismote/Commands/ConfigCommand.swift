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
