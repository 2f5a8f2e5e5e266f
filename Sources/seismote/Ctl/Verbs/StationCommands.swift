import ArgumentParser
import Messages

/// `seismote ctl ping`
struct PingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping", abstract: "Whether stations answer, and how soon.")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("ping", [:], try targets.targets()) { reply in
            let uptime = reply.result["uptime_s"]?.real.map { ", up for \(duration($0))" } ?? ""
            let version = reply.result["version"]?.text.map { ", version \($0)" } ?? ""
            return "answered after \(fixed(reply.seconds * 1000, 0)) ms\(version)\(uptime)"
        }
    }
}

/// `seismote ctl status`
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "How stations are: sensor, clock, what waits, memory ...")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws { try options.run("status", [:], try targets.targets()) { "answered\n" + readable($0.result) } }
}

/// `seismote ctl alerts`
struct AlertsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts", abstract: "The faults that stations have now.")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("alerts", [:], try targets.targets()) { reply in
            let alerts = reply.result["alerts"]?.list ?? []
            if alerts.isEmpty { return "no alerts" }
            return "\(alerts.count) alert\(alerts.count == 1 ? "" : "s")"
                + alerts.prefix(100).map { alert in
                    "\n  \(alert["severity"]?.text ?? "?") \(alert["code"]?.text ?? "?") since "
                        + "\(dateAndTime(alert["since"]?.rawText)): \(alert["message"]?.text ?? "")"
                }.joined()
        }
    }
}

/// `seismote ctl calibrate`
struct CalibrateStationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate", abstract: "Offset and noise of a station's sensor at rest.",
        discussion: "Nothing is changed: the result has the numbers, `set sensor.calibration.offset=[...]` uses them.")

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("Time at rest.", valueName: "s"))
    var seconds = 20.0

    @OptionGroup var options: RequestOptions

    func validate() throws {
        guard CommandLimits.calibration.contains(seconds) else {
            throw ValidationError("--seconds is a number from 1 to 600")
        }
    }

    func run() throws {
        try options.run("calibrate", ["duration_s": .double(seconds)], try targets.targets(), seconds: seconds) {
            "calibrated\n" + readable($0.result)
        }
    }
}

/// `seismote ctl selftest`
struct SelfTestStationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "selftest", abstract: "The chip's own test, at a running station.",
        discussion: "The stream has a gap while it runs. Exit status 1 when it has not passed.")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        var failed = false
        try options.run("selftest", [:], try targets.targets(), seconds: 30) { reply in
            let passed = reply.result["passed"]?.flag == true
            if !passed { failed = true }
            return (passed ? "passed" : "FAILED") + "\n" + readable(reply.result)
        }
        if failed { throw ExitCode(CtlStatus.refused.rawValue) }
    }
}

/// `seismote ctl test-event`
struct TestEventCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-event", abstract: "An event as if the ground had shaken, marked as a test.",
        discussion: "Everybody who listens to events gets it: `seismote ctl events` shows it.")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("test-event", [:], try targets.targets(), seconds: 60) {
            "event \($0.result["event_id"]?.text ?? "?")"
        }
    }
}

/// `seismote ctl reset-extremes`
struct ResetExtremesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-extremes", abstract: "Smallest and largest values begin anew.")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("reset-extremes", [:], try targets.targets()) {
            "extremes since \(dateAndTime($0.result["since"]?.rawText))"
        }
    }
}

/// `seismote ctl rebirth`
struct RebirthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebirth", abstract: "Stations publish all that the broker keeps of them again.")

    @OptionGroup var targets: TargetOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("rebirth", [:], try targets.targets()) { reply in
            reply.result["topics"]?.whole.map { "\($0) topics published again" } ?? "published again"
        }
    }
}

/// `seismote ctl restart`
struct RestartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart", abstract: "The agent ends, for its supervisor to start it again.",
        discussion: "Stations of a group do so one after the other, at random within half a minute.")

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
