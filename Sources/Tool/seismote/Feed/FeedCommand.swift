import ArgumentParser

/// `seismote feed`: runs the server, which is a program and a package of its own.
struct FeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: "Serve stations by SeedLink, FDSN web services and /metrics.",
        discussion: """
            seismote feed --broker mqtts://broker.local:8883 --listen 0.0.0.0

            Runs the program seismote-feed, which the package of the same name brings, with the options that follow: see \
            `seismote-feed --help`.
            """)

    @Argument(parsing: .captureForPassthrough, help: "Options of seismote-feed.")
    var options: [String] = []

    func run() throws { try ctl { try start() } }

    /// Does not come back unless the program cannot be run.
    private func start() throws -> CtlStatus {
        throw CtlError(status: .files, Handover.become("seismote-feed", options))
    }
}
