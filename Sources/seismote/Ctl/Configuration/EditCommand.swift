import ArgumentParser
import Glibc
import Messages
import Settings

/// `seismote ctl edit`
struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit a station's settings in an editor.",
        discussion: """
            Opens the settings in force in $VISUAL, $EDITOR or vi, shows what is different afterwards, and sends that and \
            nothing else, unless somebody else has changed them in the meantime.
            """)

    @Argument(help: ArgumentHelp("The station.", valueName: "station"))
    var station: String

    @Flag(help: "Check it and show what would change.")
    var dryRun = false

    @Option(help: ArgumentHelp("Go back after so long unless confirmed.", valueName: "s"))
    var confirm: Double?

    @Flag(name: .shortAndLong, help: "Send without asking.")
    var yes = false

    @OptionGroup var options: RequestOptions

    func run() throws {
        guard yes || dryRun || isatty(STDIN_FILENO) != 0 else {
            throw ValidationError("there is nobody to ask: --yes or --dry-run")
        }
        let targets = try GroupOptions.parse([]).targets([station])
        try ctl {
            let client = try options.common.connect()
            defer { client.disconnect() }
            var got: Answer?
            let exchange = Exchange(
                client, "config-get", [:], targets, patience: options.timeout, line: WaitingLine(enabled: true))
            exchange.onAnswer = { got = $0 }
            try exchange.run()
            guard let got, got.outcome == .done, let result = got.reply?.result, let config = result["config"] else {
                var report = AnswerReport(json: options.common.json) { _ in "its settings are not to be read" }
                if let got { report.take(got) }
                return report.status == .done ? .refused : report.status
            }
            client.disconnect()
            return try edit(config, revision: result["rev"]?.whole, targets, client)
        }
    }

    private func edit(
        _ config: Value, revision: Int?, _ targets: Targets, _ client: BrokerClient
    ) throws -> CtlStatus {
        let heading = """
            # Settings of \(station)\(revision.map { ", rev \($0)" } ?? ""). What you change here is sent to the station when you save and
            # leave; a line that you take away goes back to its default. Values may have units: 5 mg, 200 ms.


            """
        let file = try EditedFile(heading + settingsText(config))
        while true {
            try file.edit()
            Interrupt.forget()
            var changes: SettingChanges?
            do throws(SettingError) {
                changes = SettingChanges(from: config, to: try file.tree())
            } catch {
                printError(error.text(fileName: file.path))
            }
            if let changes {
                if changes.isEmpty {
                    printError("nothing changed")
                    return .done
                }
                if !options.common.json { print(changes.text) }
                switch yes || dryRun ? "y" : question("Send it to \(station)? [y]es, [e]dit again, [n]o: ") {
                case "y":
                    let status = try send(changes.patch, revision, targets, client)
                    guard status == .refused, !yes, isatty(STDIN_FILENO) != 0,
                        question("Edit again? [y]es, [n]o: ") == "y"
                    else { return status }
                case "e": break
                default:
                    printError("not sent")
                    return .refused
                }
            } else if yes || isatty(STDIN_FILENO) == 0 || question("Edit again? [y]es, [n]o: ") != "y" {
                return .settings
            }
        }
    }

    private func send(
        _ patch: Value, _ revision: Int?, _ targets: Targets, _ client: BrokerClient
    ) throws(ClientError) -> CtlStatus {
        var request = ConfigRequest(patch: patch, confirm: confirm)
        request.members = [.init("set", patch)]
        if dryRun { request.onlyCheck() }
        if let revision { request.members.append(.init("if_rev", .int(Int64(revision)))) }
        // The editor may have been open for longer than a broker waits for a word.
        try client.connect()
        return try request.run(targets, options, client)
    }

    /// The first letter of the answer.
    private func question(_ text: String) -> String {
        printError(text)
        return readLine().map { String($0.lowercased().prefix(1)) } ?? "n"
    }
}
