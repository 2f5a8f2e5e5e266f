import Alerts
import Glibc
import Instruments
import Messages
import Settings
import Values

/// The agent that runs is the one that is installed, and of the tool's version.
enum VersionCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        let restart = "sudo systemctl restart seismote"
        if let agent = facts.agent.fact ?? nil, agent.isReplaced {
            return [
                .wrong(
                    Diagnosis(
                        "old_version",
                        "The agent (process \(agent.process)) still runs a program that was replaced or deleted since: \(agent.program).",
                        remedy: restart))
            ]
        }
        let station = facts.station.fact?.view
        let running = facts.own?.view.version ?? (station?.isOnline == true ? station?.version : nil)
        let installed = facts.installed.fact
        if let running, let installed, running != installed {
            return [
                .wrong(
                    Diagnosis(
                        "old_version",
                        "The agent that runs is version \(running), the one that is installed is \(installed).",
                        remedy: restart))
            ]
        }
        guard let agent = running ?? installed else {
            return [.skipped("no version is known: the station says nothing and no seismoted was found")]
        }
        guard agent == productVersion else {
            return [
                .wrong(
                    Diagnosis(
                        "old_version", .warning, "The agent is version \(agent), this tool is \(productVersion).",
                        remedy:
                            "Install both of the same version: sudo apt install --only-upgrade seismote, then \(restart)"
                    ))
            ]
        }
        return [.fine("agent and tool are \(agent)")]
    }
}

/// The settings file: there, and valid.
enum SettingsCheck {
    static func judge(_ facts: Facts) -> [Verdict] { file(facts.settings) + left(facts.settings) }

    /// A file on the boot partition, perhaps with a password in it, that waits to be taken over.
    private static func left(_ settings: SettingsFacts) -> [Verdict] {
        guard let path = settings.bootFile else { return [] }
        let again = "then sudo systemctl start seismote-boot && sudo systemctl restart seismote"
        let diagnosis =
            settings.bootProblem.map {
                Diagnosis(
                    "boot_file", "\(path) was not taken over: \($0)",
                    remedy: "Correct it there (seismote-errors.txt beside it has all that is wrong), \(again)")
            }
            ?? Diagnosis(
                "boot_file", .warning, "\(path) is not taken over, and a password in it can be read with the card.",
                remedy: "sudo systemctl enable seismote-boot, \(again)")
        return [.wrong(diagnosis)]
    }

    private static func file(_ settings: SettingsFacts) -> [Verdict] {
        guard settings.exists else {
            return [
                .wrong(
                    Diagnosis(
                        "settings_missing", .warning,
                        "There is no settings file \(settings.path): the agent would use its defaults and the broker on this machine.",
                        remedy: "sudo seismote setup"))
            ]
        }
        guard !settings.errors.isEmpty else {
            return [
                .fine("\(settings.path) is valid, \(settings.given) setting\(settings.given == 1 ? "" : "s") given")
            ]
        }
        let more = settings.errors.count > 1 ? " (and \(settings.errors.count - 1) more)" : ""
        return [
            .wrong(
                Diagnosis(
                    "settings_broken", "The settings file is not valid: \(settings.errors[0])\(more)",
                    remedy:
                        "Correct that line in \(settings.path), see it with `seismote config check \(settings.path)`, then sudo systemctl restart seismote"
                ))
        ]
    }
}

/// There is a sensor, and its values change.
enum SensorCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        let view = facts.view
        var wrong: [Verdict] = []
        for (code, alert) in AlertCheck.alerts(of: "sensor", view) {
            let axes = alert.axes.printable
            let detail = axes.isEmpty ? "" : " (axes \(axes.joined(separator: ", ")))"
            wrong.append(
                .wrong(
                    Diagnosis(
                        code, "The agent reports: \(alert.message?.printable ?? code)\(detail)",
                        remedy: AlertCheck.remedy(code))))
        }
        if !wrong.isEmpty { return wrong }
        if let sensor = facts.sensor.fact { return [judge(sensor)] }
        if let state = view?.health?.sensor?.printable, facts.own != nil || view?.isOnline == true {
            return [told(state, chip: view?.info?.sensor?.chip?.printable ?? "the sensor", facts)]
        }
        return facts.sensor.judge { [judge($0)] }
    }

    /// Verdict by the agent's word on the sensor, where it has raised no alert.
    private static func told(_ state: String, chip: String, _ facts: Facts) -> Verdict {
        switch HealthMessage.SensorState(rawValue: state) {
        case .ok, .settling: return .fine("\(chip) is \(state)")
        case .stalled where facts.own?.isEnded == true || facts.settings.configuration.sensor.driver == .replay:
            return .fine("\(chip) has been played to its end")
        default: break
        }
        let isWaiting = facts.own?.isWaiting == true
        return .wrong(
            Diagnosis(
                state == "missing" ? "sensor_missing" : "sensor_fault", .warning,
                "The agent has no samples: \(chip) is \(state)"
                    + (isWaiting ? "; it waits for it up to 30 s, since the machine has just booted." : "."),
                remedy: "Ask again in half a minute; if it stays so: " + AlertCheck.remedy("sensor_missing")))
    }

    private static func judge(_ sensor: SensorFacts) -> Verdict {
        if let problem = sensor.problem {
            let remedy =
                sensor.remedies.isEmpty
                ? AlertCheck.remedy("sensor_\(sensor.code)") : sensor.remedies.joined(separator: "; ")
            return .wrong(Diagnosis("sensor_\(sensor.code)", "The sensor cannot be read: \(problem).", remedy: remedy))
        }
        if sensor.isStuck {
            return .wrong(
                Diagnosis(
                    "sensor_stuck", "\(sensor.chip) gives the same values all the time (axes \(sensor.stuckAxes)).",
                    remedy: AlertCheck.remedy("sensor_stuck")))
        }
        return .fine("\(sensor.chip) gives samples that change")
    }
}

/// Gravity is along the station's z.
enum MountingCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        guard let gravity = facts.own?.gravity ?? facts.station.fact?.gravity ?? facts.sensor.fact?.gravity
        else {
            if facts.own != nil { return [.skipped("the agent has no samples yet")] }
            return [
                .skipped(
                    "no raw samples are known: the agent sends none that this account may read (trace.signals: raw), and has the sensor itself"
                )
            ]
        }
        return [judge(gravity, facts.settings.configuration.sensor.mounting)]
    }

    static func judge(_ gravity: [Double], _ mounting: MountingConfiguration) -> Verdict {
        let length = gravity.reduce(0) { $0 + $1 * $1 }.squareRoot()
        guard length > 5, let axis = (0..<3).max(by: { gravity[$0].magnitude < gravity[$1].magnitude }) else {
            return .skipped("the samples show no gravity (mean \(significant(length, 3)) m/s²)")
        }
        let tilt = acos(max(-1, min(1, gravity[2] / length))) / Double.pi * 180
        let seen = (gravity[axis] < 0 ? "-" : "+") + ["x", "y", "z"][axis]
        let values = gravity.map { fixed($0, 2) }.joined(separator: ", ")
        if axis != 2 || gravity[2] < 0 {
            let sources = MountingAdvice.sources(up: (axis, gravity[axis] < 0 ? -1 : 1), now: mounting)
            return .wrong(
                Diagnosis(
                    "wrong_mounting", "Gravity is along \(seen) of the station, not along +z (mean \(values) m/s²).",
                    remedy: "Turn the sensor, or set sensor.mounting: \(sources), and look at north with it"))
        }
        if tilt > 5, !mounting.level {
            return .wrong(
                Diagnosis(
                    "wrong_mounting", .warning, "The sensor is tilted by \(fixed(tilt, 1))° (mean \(values) m/s²).",
                    remedy: "Put it level to 5°, or set sensor.mounting.level: true"))
        }
        return .fine("gravity is along +z, tilt \(fixed(tilt, 1))°")
    }
}

/// Which sensor axes to take so that z points up.
enum MountingAdvice {
    /// - Parameters:
    ///   - up: the station's axis that gravity was found along, and its sign.
    ///   - now: the map that it was found with.
    /// - Returns: `{x: +y, y: +z, z: +x}`, always right-handed where the present one is.
    static func sources(up: (axis: Int, sign: Double), now: MountingConfiguration) -> String {
        typealias Source = MountingConfiguration.Source
        func turned(_ source: Source) -> Source { Source(axis: source.axis, sign: -source.sign) }
        let (x, y, z) = (now.sources.x, now.sources.y, now.sources.z)
        let new: (Source, Source, Source) =
            switch (up.axis, up.sign > 0) {
            case (0, true): (y, z, x)
            case (0, false): (z, y, turned(x))
            case (1, true): (z, x, y)
            case (1, false): (x, z, turned(y))
            case (_, true): (x, y, z)
            case (_, false): (x, turned(y), turned(z))
            }
        return "{x: \(text(new.0)), y: \(text(new.1)), z: \(text(new.2))}"
    }

    private static func text(_ source: MountingConfiguration.Source) -> String {
        (source.sign < 0 ? "-" : "+") + ["x", "y", "z"][max(0, min(2, source.axis))]
    }
}

/// The agent lives, and says how it is.
enum StateCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        guard let agent = facts.agent.fact ?? nil else { return facts.state.judge { _ in [] } }
        let isService = facts.service.fact?.active == "active"
        if facts.isStateMissing, isService, case .unknown(let reason) = facts.state {
            return [
                .wrong(
                    Diagnosis(
                        "agent_state_missing", .warning,
                        "The agent does not say how it is: \(reason). The unit is older than the program, or was changed.",
                        remedy: "sudo systemctl daemon-reload && sudo systemctl restart seismote"))
            ]
        }
        return facts.state.judge { state in
            guard state.age <= StateFacts.patience else {
                return [
                    .wrong(
                        Diagnosis(
                            "agent_hung",
                            "The agent (process \(agent.process)) hangs: its state in \(state.path) is \(significant(state.age, 3)) s old, and it is written every \(AgentState.interval / 1_000_000_000) s.",
                            remedy:
                                "sudo systemctl restart seismote; journalctl -u seismote -n 50 and dmesg may say what it waits for"
                        ))
                ]
            }
            let sensor = state.view.health?.sensor?.printable ?? "unknown"
            return [.fine("process \(agent.process) answers: sensor \(sensor), broker \(safe(state.broker))")]
        }
    }
}

/// Alerts that the agent itself reports, beyond those that the other checks have told.
enum AlertCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        if let own = facts.own { return judge(own.view.alerts) }
        return facts.station.judge { station in
            guard station.isSeen else { return [.skipped("no alert can be read; \(StationFacts.silence)")] }
            guard station.view.isOnline == true else { return [.skipped("the station is not online")] }
            return judge(station.view.alerts)
        }
    }

    private static func judge(_ all: [String: AlertReading]) -> [Verdict] {
        let alerts = all.filter { AlertDeclaration.of($0.key)?.check == nil && $0.value.isAlert }
        let wrong = alerts.sorted { $0.key < $1.key }.map { code, alert in
            Verdict.wrong(
                Diagnosis(
                    "alert_\(code)", alert.severity == "error" ? .error : .warning,
                    "The agent reports \(code): \((alert.message ?? "").printable)", remedy: remedy(code)))
        }
        return wrong.isEmpty ? [.fine("the agent reports nothing else")] : wrong
    }

    /// Remedy, by the agent's code.
    static func remedy(_ code: String) -> String {
        let remedy = AlertDeclaration.of(code)?.remedy.filter { $0 != "`" }
        return remedy ?? "deploy/docs/operate/alerts.md and the agent's log (journalctl -u seismote) say more"
    }

    /// The alerts that a check tells itself, with what the station says of them.
    static func alerts(of check: String, _ view: StationView?) -> [(code: String, alert: AlertReading)] {
        AlertDeclaration.all.compactMap { one in
            guard one.check == check, let alert = view?.alerts[one.code], alert.isAlert else { return nil }
            return (one.code, alert)
        }
    }
}
