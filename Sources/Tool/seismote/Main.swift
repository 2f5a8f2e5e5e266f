import ArgumentParser
import Glibc
import Messages

@main
struct Seismote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seismote", abstract: "The command-line tool for Seismote stations.",
        version: "seismote \(productVersion)",
        subcommands: [
            SetupCommand.self, DoctorCommand.self, ReplayCommand.self, ReportCommand.self, ConvertCommand.self,
            TuneCommand.self, FilterCommand.self,
            ProbeCommand.self, CalibrateCommand.self, SelfTestCommand.self, ConfigCommand.self,
            InterfaceCommand.self, StationXMLCommand.self, CtlCommand.self, NetworkCommand.self,
            FeedCommand.self, SimulateFleetCommand.self, VersionCommand.self,
        ])

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            // What looks for faults has a status of its own for a wrong command line: 1 is for faults.
            if let sentence = ownSentence(of: error) {
                printError(sentence)
                Glibc.exit(1)
            }
            guard CommandLine.arguments.dropFirst().first == "doctor", exitCode(for: error) == .validationFailure else {
                exit(withError: error)
            }
            printError(fullMessage(for: error))
            Glibc.exit(2)
        }
    }
}
