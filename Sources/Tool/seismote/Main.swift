import ArgumentParser
import Glibc
import Messages
import Settings
import Threads

@main
struct Seismote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seismote", abstract: "The command-line tool for Seismote stations.",
        version: "seismote \(productVersion)",
        subcommands: [
            SetupCommand.self, JoinCommand.self, DoctorCommand.self, ReplayCommand.self, ReportCommand.self,
            ConvertCommand.self, TuneCommand.self, FilterCommand.self,
            ProbeCommand.self, CalibrateCommand.self, SelfTestCommand.self, ConfigCommand.self,
            InterfaceCommand.self, StationXMLCommand.self, CtlCommand.self, NetworkCommand.self,
            FeedCommand.self, SimulateFleetCommand.self, VersionCommand.self,
        ])

    private static var names: [String] { configuration.subcommands.compactMap { $0.configuration.commandName } }

    static func main() async {
        let arguments = Array(ProgramArguments.all.dropFirst())
        do {
            // (The parser calls it an unexpected argument.)
            if let first = arguments.first, !first.hasPrefix("-"), first != "help", !names.contains(first) {
                throw ValidationError(unknownCommand(first, among: names))
            }
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            // What looks for faults has a status of its own for a wrong command line: 1 is for faults.
            if let sentence = ownSentence(of: error) {
                printError(sentence)
                Glibc.exit(1)
            }
            guard arguments.first == "doctor", exitCode(for: error) == .validationFailure else {
                exit(withError: error)
            }
            printError(fullMessage(for: error))
            Glibc.exit(2)
        }
    }
}

/// What is said of a command that there is not, with the one that was probably meant.
func unknownCommand(_ name: String, among known: [String]) -> String {
    let nearest = Spelling.nearest(to: name, in: known).map { ": did you mean `\($0)`?" } ?? "; see --help"
    return "There is no command `\(safe(name, limit: 80))`\(nearest)"
}
