import ArgumentParser
import Messages

@main
struct Seismote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seismote", abstract: "The command-line tool for Seismote stations.",
        version: "seismote \(productVersion)",
        subcommands: [
            ReplayCommand.self, TuneCommand.self, FilterCommand.self, ProbeCommand.self, CalibrateCommand.self,
            SelfTestCommand.self, ConfigCommand.self, MessagesCommand.self, CtlCommand.self, VersionCommand.self,
        ])
}
