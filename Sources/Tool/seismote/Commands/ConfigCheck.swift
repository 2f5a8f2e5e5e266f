import ArgumentParser
import Messages
import ServerOptions
import Settings
import Threads
import Values

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
