import ArgumentParser
import Glibc
import Messages
import Servers
import Settings

/// What the command line of every program beside the agent has: settings above its file, and what is done with them alone.
public struct ProgramOptions<Program: ProgramSettings>: ParsableArguments {
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Setting above the file, such as \(Program.example); may be repeated.", valueName: "key=value"))
    public var overrides: [String] = []

    @Flag(name: .customLong("default"), help: "Print a settings file with every key at its default.")
    public var printsDefault = false

    @Flag(help: "Check the settings and do nothing.")
    public var check = false

    public init() {}

    /// The file that holds: the one that is given, or the usual one where it can be read.
    public func path(_ given: String?) -> String? {
        given ?? (access(Program.usualFile, R_OK) == 0 ? Program.usualFile : nil)
    }

    /// - Parameters:
    ///   - path: the settings file; nil: there is none.
    ///   - more: settings above it and above `--set`, as `KEY=VALUE`.
    ///   - say: gets a sentence for everything that is wrong.
    /// - Throws: exit status 78 (EX_CONFIG) after that.
    public func load(_ path: String?, adding more: [String] = [], say: (String) -> Void) throws -> Program {
        do {
            return try Program.load(file: path.map { try SettingsFile.read($0) }, overrides: overrides + more)
        } catch let error as ProgramSettingsError {
            for problem in error.problems { say(problem) }
        } catch let error as CodedError {
            say(error.message)
        }
        throw ExitCode(78)
    }
}
