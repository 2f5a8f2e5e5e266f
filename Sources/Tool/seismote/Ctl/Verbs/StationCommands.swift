import ArgumentParser
import Commands
import Messages
import Settings
import Values

/// `seismote ctl ping`
struct PingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping", abstract: Command.ping.help,
        discussion: "seismote ctl ping basement")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("ping", [:], try targets.targets()) { reply in
            let uptime = reply.result.uptime.map { ", up for \(duration($0))" } ?? ""
            let version = (reply.result.version?.printable).map { ", version \($0)" } ?? ""
            return "answered after \(fixed(reply.seconds * 1000, 0)) ms\(version)\(uptime)"
        }
    }
}

/// `seismote ctl status`
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: Command.status.help,
        discussion: "seismote ctl status basement")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("status", [:], try targets.targets()) { "answered\n" + readable($0.result.tree) }
    }
}

/// `seismote ctl alerts`
struct AlertsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts", abstract: Command.alerts.help,
        discussion: "seismote ctl alerts --all")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("alerts", [:], try targets.targets()) { reply in
            let alerts = reply.result.alerts
            if alerts.isEmpty { return "no alerts" }
            return "\(alerts.count) alert\(alerts.count == 1 ? "" : "s")"
                + alerts.prefix(100).map { alert in
                    "\n  \((alert.severity ?? "?").printable) \((alert.code ?? "?").printable) since "
                        + "\(dateAndTime(alert.since)): \((alert.message ?? "").printable)"
                }.joined()
        }
    }
}

/// `seismote ctl calibrate`
struct CalibrateStationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate", abstract: Command.calibrate.help,
        discussion:
            "seismote ctl calibrate basement --seconds 30\n\nNo setting is changed: apply the printed offset with `set sensor.calibration.offset=[...]`."
    )

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("Measuring time.", valueName: "s"))
    var seconds = 20.0

    @OptionGroup var options: RequestOptions

    func validate() throws {
        try Command.calibrate.check("duration_s", seconds, option: "seconds")
    }

    func run() throws {
        try options.run("calibrate", ["duration_s": .double(seconds)], try targets.targets(), seconds: seconds) {
            "calibrated\n" + readable($0.result.tree)
        }
    }
}

/// `seismote ctl selftest`
struct SelfTestStationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "selftest", abstract: Command.selftest.help,
        discussion:
            "seismote ctl selftest basement\n\nThe data has a gap while it runs. The exit status is 1 if it fails.")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        var failed = false
        try options.run("selftest", [:], try targets.targets(), seconds: 30) { reply in
            let passed = reply.result.hasPassed
            if !passed { failed = true }
            return (passed ? "passed" : "FAILED") + "\n" + readable(reply.result.tree)
        }
        if failed { throw ExitCode(CtlStatus.refused.rawValue) }
    }
}

/// `seismote ctl test-event`
struct TestEventCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-event", abstract: Command.testEvent.help,
        discussion:
            "seismote ctl test-event basement\n\nAll subscribers of events receive it; `seismote ctl events` shows it.")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("test-event", [:], try targets.targets(), seconds: 60) {
            "event \(($0.result.eventID ?? "?").printable)"
        }
    }
}

/// `seismote ctl reset-extremes`
struct ResetExtremesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-extremes", abstract: Command.resetExtremes.help,
        discussion: "seismote ctl reset-extremes basement")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("reset-extremes", [:], try targets.targets()) {
            "extremes since \(dateAndTime($0.result.since))"
        }
    }
}

/// `seismote ctl rebirth`
struct RebirthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebirth", abstract: Command.rebirth.help,
        discussion: "seismote ctl rebirth --all")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("rebirth", [:], try targets.targets()) { reply in
            reply.result.topics.map { "\($0) topics published again" } ?? "published again"
        }
    }
}

/// `seismote ctl restart`
struct RestartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart", abstract: Command.restart.help,
        discussion:
            "seismote ctl restart --group school\n\nThe stations of a group restart at random times within half a minute."
    )

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws { try options.run("restart", [:], try targets.targets()) { _ in "restarts" } }
}

/// Seconds for people: `3 d 4 h`, `12 min`.
func duration(_ seconds: Double) -> String {
    let all = Int(max(0, min(seconds, 1e12)))
    let (days, hours, minutes) = (all / 86_400, all / 3600 % 24, all / 60 % 60)
    if days > 0 { return "\(days) d \(hours) h" }
    if hours > 0 { return "\(hours) h \(minutes) min" }
    return minutes > 0 ? "\(minutes) min \(all % 60) s" : "\(all) s"
}

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
        try options.run(name, .object(members), try targets(), seconds: seconds) { "done\n" + readable($0.result.tree) }
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
