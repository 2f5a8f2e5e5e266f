import ArgumentParser
import Settings

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
