import ArgumentParser

/// `seismote config ...`: everything about settings without an agent.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check, print and explain settings.",
        subcommands: [
            ConfigCheck.self, ConfigDefault.self, ConfigPreset.self, ConfigSet.self, ConfigExplain.self,
            ConfigSchema.self, ConfigManual.self,
        ])
}
