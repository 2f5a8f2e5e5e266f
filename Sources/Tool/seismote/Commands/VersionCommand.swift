import ArgumentParser
import Messages

/// `seismote version`
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version.",
        discussion: "seismote version")

    func run() { print("seismote \(productVersion)") }
}
