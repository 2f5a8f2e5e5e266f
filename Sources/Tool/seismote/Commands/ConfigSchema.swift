import ArgumentParser
import Messages
import Settings

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
