import ArgumentParser
import Glibc
import Messages
import Platform
import Settings
import Values

/// Command line of every program beside the agent: settings above its file, and the options that only read or print
/// them.
public struct ProgramOptions<Program: ProgramSettings>: ParsableArguments {
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Setting above the file, such as \(Program.example); may be repeated.", valueName: "key=value"))
    public var overrides: [String] = []

    @Flag(name: .customLong("default"), help: "Print a settings file with every key at its default.")
    var printsDefault = false

    @Flag(help: "Print the JSON Schema of the settings file.")
    public var schema = false

    @Flag(help: ArgumentHelp("Print the reference of the settings as Markdown.", visibility: .hidden))
    public var manual = false

    @Flag(help: "Check the settings and do nothing.")
    public var check = false

    @Flag(
        help: ArgumentHelp(
            "Ask the program that runs with these settings how it is, and end with 0 (well) or 1. Containers do so."))
    public var health = false

    public init() {}

    /// Prints how the program is that has this state folder.
    /// - Throws: exit status 1 where it is not well or gives no answer within 5 s.
    public static func reportHealth(of folder: String) throws {
        let answer = HealthSocket.ask(folder: folder, milliseconds: 5000)
        print("\(Program.program): \(answer.words)")
        if !answer.isWell { throw ExitStatus.fault.code }
    }

    /// The socket on which that question is answered; nil, with a word, where there can be none.
    public static func healthSocket(in folder: String, say: (String) -> Void) -> HealthSocket? {
        do throws(HealthError) { return try HealthSocket(folder: folder) } catch {
            say("\(error)")
            return nil
        }
    }

    /// Text for an option that only prints settings; nil: there is none.
    public var printed: String? {
        if printsDefault { return Program.defaultFile }
        if schema { return String(decoding: Program.schema.json(), as: UTF8.self) + "\n" }
        return manual ? Program.manual : nil
    }

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
        } catch let error as CodedErrors {
            for error in error.errors { say(error.text(fileName: path)) }
        } catch let error as CodedError {
            say(error.message)
        }
        throw ExitStatus.settings.code
    }
}

extension ProgramSettings {
    /// A line of the program's log, to standard error.
    public static func printError(_ words: String) { ProgramOutput.printError(logLine(words)) }

    /// The words behind the program's name, without what could deceive a terminal or its reader.
    package static func logLine(_ words: String) -> String {
        "\(program): \(String(words.unicodeScalars.prefix(1000).map { $0.isUnprintable ? "?" : Character($0) }))"
    }
}

extension ExitStatus {
    public var code: ExitCode { ExitCode(rawValue) }
}

/// The end of a program, after a sentence.
public func failure(
    _ words: String, _ status: ExitStatus, say: (String) -> Void = { ProgramOutput.printError($0) }
) -> ExitCode {
    say(words)
    return status.code
}
