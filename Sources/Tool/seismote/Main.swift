import ArgumentParser
import Exchange
import Glibc
import Messages
import Platform
import Sensors
import ServerOptions
import Settings
import Station
import Values

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
            FeedCommand.self, VersionCommand.self,
        ])

    private static var names: [String] { configuration.subcommands.compactMap { $0.configuration.commandName } }

    /// The subcommands of subcommands that have this name, as they are typed.
    static func places(of name: String) -> [String] {
        configuration.subcommands.flatMap { parent in
            parent.configuration.subcommands.filter { $0._commandName == name }
                .map { "seismote \(parent._commandName) \($0._commandName)" }
        }
    }

    static func main() async {
        ProgramOutput.begin()
        let arguments = joiningNegativeNumbers(Array(ProgramArguments.all.dropFirst()))
        do {
            // (The parser calls it an unexpected argument.)
            if let first = arguments.first, !first.hasPrefix("-"), first != "help", !names.contains(first) {
                throw ValidationError(unknownCommand(first, among: names, elsewhere: places(of: first)))
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

/// Message on an unknown command, with the one that was probably meant.
/// - Parameter elsewhere: commands of this very name in other places, as they are typed.
func unknownCommand(_ name: String, among known: [String], elsewhere: [String] = []) -> String {
    let meant = elsewhere.isEmpty ? Spelling.nearest(to: name, in: known).map { [$0] } ?? [] : elsewhere
    let remedy = meant.isEmpty ? "; see --help" : ": did you mean \(meant.map { "`\($0)`" }.joined(separator: " or "))?"
    return "There is no command `\(safe(name, limit: 80))`\(remedy)"
}

/// The arguments with a negative number joined to the option before it, `--scale=-1e-6`, because the parser takes what
/// begins with a dash for an option. (No option of this tool begins with a dash and a digit.)
func joiningNegativeNumbers(_ arguments: [String]) -> [String] {
    var joined: [String] = []
    var isOver = false
    for word in arguments {
        let digits = word.utf8.dropFirst()
        let isNegative =
            word.hasPrefix("-") && (digits.first.map { $0.isDigit || $0 == 0x2E } ?? false)
        if !isOver, isNegative, let last = joined.last, last.hasPrefix("--"), last.utf8.count > 2, !last.contains("=") {
            joined[joined.count - 1] = "\(last)=\(word)"
        } else {
            joined.append(word)
        }
        if word == "--" { isOver = true }
    }
    return joined
}

/// `seismote version`
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version.",
        discussion: "seismote version")

    func run() { print("seismote \(productVersion)") }
}

/// Sentence for an error that nobody has expected at that place: never a value of Swift.
func sentence(of error: any Error) -> String {
    if let own = ownSentence(of: error) { return own }
    switch error {
    // What was wrong has been said.
    case let error as ExitCode: return "ended with status \(error.rawValue)"
    case let error as any CustomStringConvertible: return error.description
    default: return "unexpected error of the kind \(type(of: error))"
    }
}

/// The same of errors that have no words for people by themselves; nil for all others.
func ownSentence(of error: any Error) -> String? {
    switch error {
    case let error as CtlError: error.message
    case let error as CodedError: error.message
    case let error as CodedErrors: error.text(fileName: nil)
    case let error as FileError: error.message
    case let error as ConversionError: error.message
    case let error as TuneError: error.lines.joined(separator: "\n")
    case let error as StationXMLError: error.message
    default: nil
    }
}

/// Runs a part of a command; the errors that end one have their exit statuses here.
func ending<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch {
        switch error {
        case let error as OutputError: throw failure(error.description, .files)
        case let error as SensorError: throw failure(error.message, .data)
        case let error as StationXMLError: throw failure(error.message, .data)
        case let error as ConversionError: throw failure(error.message, .data)
        case let error as StationError: throw failure(error.description, .settings)
        case let error as CalibrationError: throw failure(error.message, .fault)
        case let error as TuneError: throw failure(error.lines.joined(separator: "\n"), error.status)
        default: throw error
        }
    }
}
