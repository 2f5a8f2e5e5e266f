import ArgumentParser
import Association
import DatabaseFiles
import Glibc
import MQTT
import Messages
import Platform
import ServerOptions

/// `seismote-network`: the detector of a network of stations, on one broker or on a cluster of RabbitMQ.
@main
struct NetworkProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seismote-network",
        abstract: "Publish the earthquakes that the stations of a broker see together.",
        discussion: """
            Reads the events and the places of all stations, publishes on <root>/network/event, and the newest message \
            also retained on <root>/network/event/last. What it has taken and published is kept in the folder of \
            network.state: started again after whatever end, it goes on with the same events. One detector a broker; it \
            ends with SIGTERM or Ctrl-C.

            With network.cluster its log is a queue on a cluster of RabbitMQ, and any number of detectors may run, of which \
            one is at work.

            Settings come from \(NetworkSettings.usualFile) where it is there, or from --config; `--default` prints that file. \
            --broker and what belongs to it (see `seismote ctl --help`) goes above the file.
            """, version: productVersion)

    @OptionGroup var broker: BrokerOptions

    @OptionGroup var options: ProgramOptions<NetworkSettings>

    /// (The command line that Swift knows needs /proc.)
    static func main() {
        ProgramOutput.begin()
        main(Array(ProgramArguments.all.dropFirst()))
    }

    func run() throws {
        if let printed = options.printed { return print(printed, terminator: "") }
        let path = options.path(broker.config)
        let settings = try options.load(path, say: say)
        if options.health { return try ProgramOptions<NetworkSettings>.reportHealth(of: settings.folder) }
        do {
            let access = try broker.access(
                mqtt: path != nil || options.overrides.contains { $0.hasPrefix("mqtt.") } ? settings.mqtt : nil)
            if options.check { return print("\(path ?? "settings"): valid") }
            guard settings.cluster.isEmpty else {
                EndSignals.listen([SIGHUP])
                return ClusterService(access, settings).run()
            }
            try NetworkService(access, settings).run()
        } catch let error as SecretError {
            throw failure(error.message, .files)
        } catch let error as DatabaseError { throw failure(error.message, .files) }
    }
}
