import Administration
import ArgumentParser
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// `seismote ctl edit`
struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit a station's settings in an editor.",
        discussion: """
            seismote ctl edit basement

            Opens the settings in force in $VISUAL, $EDITOR or vi, shows what is different afterwards, and sends only the \
            differences. Refused if the settings have been changed by someone else in the meantime.
            """)

    @Argument(help: ArgumentHelp("The station.", valueName: "station"))
    var station: String

    @OptionGroup var change: ChangeOptions

    @Flag(name: .shortAndLong, help: "Send without asking for confirmation.")
    var yes = false

    @OptionGroup var options: RequestOptions

    func validate() throws {
        guard yes || change.dryRun || isatty(STDIN_FILENO) != 0 else {
            throw ValidationError("no terminal: add --yes or --dry-run")
        }
        _ = try GroupOptions.parse([]).targets([station])
    }

    func run() throws {
        let targets = try GroupOptions.parse([]).targets([station])
        try ctl {
            let client = try options.common.connect()
            defer { client.disconnect() }
            var got: Answer?
            let exchange = Exchange(
                client, "config-get", [:], targets, patience: options.timeout, line: WaitingLine(enabled: true))
            exchange.onAnswer = { got = $0 }
            try exchange.run()
            guard let got, got.outcome == .done, let result = got.reply?.result, let config = result.config else {
                var report = AnswerReport(json: options.common.json) { _ in "the settings cannot be read" }
                if let got { report.take(got) }
                return report.status == .done ? .refused : report.status
            }
            client.disconnect()
            return try edit(config, revision: result.revision, targets, client)
        }
    }

    private func edit(
        _ config: Value, revision: Int?, _ targets: Targets, _ client: BrokerClient
    ) throws -> CtlStatus {
        let heading = """
            # Settings of \(station)\(revision.map { ", rev \($0)" } ?? ""). What you change here is sent to the station when you save and
            # leave; a line that you delete goes back to its default. Values may have units: 5 mg, 200 ms.


            """
        let file = try EditedFile(heading + settingsText(config))
        while true {
            try file.edit()
            Interrupt.forget()
            var changes: SettingChanges?
            do throws(CodedError) {
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
                switch yes || change.dryRun ? "y" : question("Send it to \(station)? [y]es, [e]dit again, [n]o: ") {
                case "y":
                    let status = try send(changes.patch, revision, targets, client)
                    guard status == .refused, !yes, isatty(STDIN_FILENO) != 0,
                        question("Edit again? [y]es, [n]o: ") == "y"
                    else { return status }
                case "e": break
                default:
                    printError("not sent")
                    return Interrupt.came ? .interrupted : .refused
                }
            } else if yes || isatty(STDIN_FILENO) == 0 || question("Edit again? [y]es, [n]o: ") != "y" {
                return Interrupt.came ? .interrupted : .settings
            }
        }
    }

    private func send(
        _ patch: Value, _ revision: Int?, _ targets: Targets, _ client: BrokerClient
    ) throws(ClientError) -> CtlStatus {
        let request = change.request("config", [.init("set", patch)], patch: patch, shown: revision)
        // The editor may have been open for longer than a broker waits for a word.
        try client.connect()
        return try request.run(targets, options, client)
    }

    /// The first letter of the answer; `n` at the end of the input, and at Ctrl-C.
    private func question(_ text: String) -> String {
        flushOutput()
        ProgramOutput.write(text)
        var line: [UInt8] = []
        while !Interrupt.came {
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 200) > 0 else { continue }
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else { break }
            if byte == UInt8(ascii: "\n") { return String(decoding: line.prefix(1), as: UTF8.self).lowercased() }
            line.append(byte)
        }
        printError("")
        return "n"
    }
}

/// A file of settings that only we can read, while a person edits it.
final class EditedFile {
    let path: String

    init(_ text: String) throws(CtlError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/seismote-XXXXXX.yaml".utf8CString)
        let file = mkstemps(&name, 5)
        guard file >= 0 else { throw Self.failure("a file in \(folder)") }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(file) }
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                write(file, raw.baseAddress.map { $0 + done }, bytes.count - done)
            }
            guard count > 0 else { throw Self.failure(path) }
            done += count
        }
    }

    deinit { unlink(path) }

    private static func failure(_ what: String) -> CtlError {
        CtlError(status: .files, "cannot write \(what): \(String(cString: strerror(errno)))")
    }

    /// Runs $VISUAL, $EDITOR or vi on it.
    func edit() throws(CtlError) {
        var editor: String?
        for name: String in ["EDITOR", "VISUAL"] {
            if let value = getenv(name), value.pointee != 0 { editor = String(cString: value) }
        }
        let words = ["/bin/sh", "-c", (editor ?? "vi") + " \"$1\"", "sh", path]
        let run = ChildProgram(words, seconds: .infinity, files: (STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO))
        guard let run else { throw CtlError(status: .files, "the editor: /bin/sh cannot be started") }
        guard run.isDone else {
            throw CtlError(status: .files, "the editor \(editor ?? "vi") returned an error; nothing was sent")
        }
    }

    func tree() throws(CodedError) -> Value {
        do throws(CodedError) {
            return try YAMLDocument.read(try SettingsFile.read(path))
        } catch {
            var error = error
            error.source = .file
            throw error
        }
    }
}
