import ArgumentParser
import Commands
import Messages
import Settings
import Values

/// `seismote ctl <command>`: any command of the list that has no subcommand of its own, from its declaration alone.
struct AskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Any command by its name, with its members as key=value.",
        discussion:
            "seismote ctl ask calibrate basement duration_s=30\n\n`ask` may be left out where no subcommand has that name.\n\n"
            + Command.all.map { command in
                "\(command.name): \(command.help)"
                    + command.members.map { "\n  \($0.name): \($0.allowed)" }.joined()
            }.joined(separator: "\n"))

    @Argument(
        help: ArgumentHelp("Which command.", valueName: "command"), completion: .list(Command.all.map(\.name)))
    var name: String?

    @Argument(help: ArgumentHelp("Stations, and members such as duration_s=5.", valueName: "station"))
    var rest: [String] = []

    @OptionGroup var several: GroupOptions
    @OptionGroup var options: RequestOptions

    func validate() throws {
        guard let name else { throw CleanExit.helpRequest(CtlCommand.self) }
        if Command.all.allSatisfy({ $0.name != name }) {
            let known = CtlCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
            let isOfTool = Seismote.configuration.subcommands.contains { $0._commandName == name }
            let elsewhere = isOfTool ? ["seismote \(name)"] : []
            throw ValidationError(
                unknownCommand(name, among: known + Command.all.map(\.name), elsewhere: elsewhere))
        }
        let sent = CommandDecoder.decode(verb: name, payload: Value.object([.init("id", "x")] + members).json())
        if !sent.errors.isEmpty { throw ValidationError(sent.errors.map { $0.text() }.joined(separator: "\n")) }
        _ = try targets()
    }

    func run() throws {
        guard let name else { return }
        // A while is given to what takes one.
        let seconds = members.first { $0.key == "duration_s" }?.value.number ?? 30
        try options.run(name, .object(members), try targets(), seconds: seconds) { "done\n" + readable($0.result) }
    }

    private func targets() throws -> Targets { try several.targets(rest.filter { !$0.contains("=") }) }

    /// Values are JSON, or else text.
    private var members: [Value.Member] {
        rest.compactMap { argument in
            guard let end = argument.firstIndex(of: "=") else { return nil }
            let text = String(argument[argument.index(after: end)...])
            return .init(String(argument[..<end]), (try? JSONReader.read(Array(text.utf8))) ?? .string(text))
        }
    }
}

extension Command {
    /// - Parameter endsAtZero: what 0 means for a station is not for an option.
    func check(_ name: String, _ value: Double, option: String, endsAtZero: Bool = false) throws(ValidationError) {
        guard let member = member(name), let range = member.range else { return }
        if range.contains(value), value > 0 || !endsAtZero { return }
        throw ValidationError("--\(option) \(value) is outside \(member.allowed)")
    }
}
