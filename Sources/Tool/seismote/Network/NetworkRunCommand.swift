import ArgumentParser
import DatabaseFiles
import ServerOptions

/// `seismote network run`: one detector on one broker.
struct NetworkRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Publish the earthquakes that the stations of a broker see together.",
        discussion: """
            Reads the events and the places of all stations, publishes on <root>/network/event, and the newest message \
            also retained on <root>/network/event/last. What it has taken and published is kept in the folder of \
            network.state: started again after whatever end, it goes on with the same events. One detector a broker; it \
            ends with SIGTERM or Ctrl-C.

            With network.cluster it hands over to seismote-network, the detector on a cluster of RabbitMQ.

            Settings come from \(NetworkSettings.usualFile) where it is there, or from --config; `--default` prints that file. \
            --broker and what belongs to it (see `seismote ctl --help`) goes above the file.
            """)

    @OptionGroup var broker: BrokerOptions

    @OptionGroup var options: ProgramOptions<NetworkSettings>

    func run() throws {
        if let printed = options.printed { return print(printed, terminator: "") }
        try ctl {
            let path = options.path(broker.config)
            let settings = try options.load(path) { printError($0) }
            let access = try broker.access(
                mqtt: path != nil || options.overrides.contains { $0.hasPrefix("mqtt.") } ? settings.mqtt : nil)
            if options.check {
                print("\(path ?? "settings"): valid")
                return .done
            }
            if !settings.cluster.isEmpty { try NetworkHandover.run(access, settings) }
            do throws(DatabaseError) {
                try NetworkService(access, settings).run()
            } catch {
                throw CtlError(status: .files, error.message)
            }
            return .done
        }
    }
}
