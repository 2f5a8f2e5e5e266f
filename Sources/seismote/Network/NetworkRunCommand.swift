import ArgumentParser
import Glibc
import Messages
import Servers
import Settings

/// `seismote network run`: one detector on one broker.
struct NetworkRunCommand: ParsableCommand {
    static let usualFile = "/etc/seismote/network.yaml"

    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Publish the earthquakes that the stations of a broker see together.",
        discussion: """
            Reads the events and the places of all stations, publishes on <root>/network/event, and the newest message \
            also retained on <root>/network/event/last. What it has taken and published is kept in the folder of \
            network.state: started again after whatever end, it goes on with the same events. One detector a broker; it \
            ends with SIGTERM or Ctrl-C.

            With network.cluster it hands over to seismote-network, the detector on a cluster of RabbitMQ.

            Settings come from \(usualFile) where it is there, or from --config; `--default` prints that file. \
            --broker and what belongs to it (see `seismote ctl --help`) goes above the file.
            """)

    @OptionGroup var broker: BrokerOptions

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Setting above the file, such as network.confirm=true; may be repeated.", valueName: "key=value"))
    var overrides: [String] = []

    @Flag(name: .customLong("default"), help: "Print a settings file with every key at its default.")
    var printsDefault = false

    @Flag(help: "Check the settings and do nothing.")
    var check = false

    func run() throws {
        if printsDefault { return print(NetworkSettings.defaultFile, terminator: "") }
        try ctl {
            let path = broker.config ?? (access(Self.usualFile, R_OK) == 0 ? Self.usualFile : nil)
            let settings = try load(path)
            let access = try broker.access(
                mqtt: path != nil || overrides.contains { $0.hasPrefix("mqtt.") } ? settings.mqtt : nil)
            if check {
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

    private func load(_ path: String?) throws -> NetworkSettings {
        do {
            return try NetworkSettings.load(file: path.map { try SettingsFile.read($0) }, overrides: overrides)
        } catch let error as ProgramSettingsError {
            for problem in error.problems { printError(problem) }
            throw exitBadSettings
        } catch let error as CodedError {
            throw CtlError(status: .settings, error.message)
        }
    }
}
