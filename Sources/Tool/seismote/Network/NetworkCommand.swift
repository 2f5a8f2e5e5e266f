import ArgumentParser

/// `seismote network ...`: earthquakes that several stations see together.
struct NetworkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "Find earthquakes in the onsets of many stations.",
        subcommands: [NetworkRunCommand.self, NetworkReplayCommand.self], defaultSubcommand: NetworkRunCommand.self)
}
