import ArgumentParser
import Messages
import ServerOptions
import Settings
import Values

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
