import ArgumentParser

/// `seismote network ...`: earthquakes that several stations see together.
struct NetworkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "Find earthquakes in the onsets of many stations.",
        subcommands: [NetworkRunCommand.self, NetworkReplayCommand.self, NetworkStationsCommand.self],
        defaultSubcommand: NetworkRunCommand.self)
}

/// `seismote network run`: runs the detector, which is a program and a package of its own.
struct NetworkRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Publish the earthquakes that the stations of a broker see together.",
        discussion: """
            seismote network run --set network.confirm=true

            Runs the program seismote-network, which the package of the same name brings, with the options that follow: \
            see `seismote-network --help`.
            """)

    @Argument(parsing: .captureForPassthrough, help: "Options of seismote-network.")
    var options: [String] = []

    func run() throws { try ctl { try start() } }

    /// Does not come back unless the program cannot be run.
    private func start() throws -> CtlStatus {
        throw CtlError(status: .files, PackagedProgram.become("seismote-network", options))
    }
}
