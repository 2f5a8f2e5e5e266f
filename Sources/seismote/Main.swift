import ArgumentParser

@main
struct Seismote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seismote", abstract: "The tool for people who run Seismote stations.",
        subcommands: [
            ReplayCommand.self, TuneCommand.self, FilterCommand.self, ProbeCommand.self, CalibrateCommand.self,
            SelfTestCommand.self, ConfigCommand.self, CtlCommand.self, VersionCommand.self,
        ])
}
