import Messages

/// There is a sensor, and its values change.
enum SensorCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        let view = facts.view
        var wrong: [Verdict] = []
        for (code, alert) in AlertCheck.alerts(of: "sensor", view) {
            let axes = alert["details", "axes"]?.texts ?? []
            let detail = axes.isEmpty ? "" : " (axes \(axes.joined(separator: ", ")))"
            wrong.append(
                .wrong(
                    Diagnosis(
                        code, "The agent reports: \(alert["message"]?.text ?? code)\(detail)",
                        remedy: AlertCheck.remedy(code))))
        }
        if !wrong.isEmpty { return wrong }
        if let sensor = facts.sensor.fact { return [judge(sensor)] }
        if let state = view?.health?["sensor"]?.text, facts.own != nil || view?.isOnline == true {
            return [told(state, chip: view?.info?["sensor", "chip"]?.text ?? "the sensor", facts)]
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
