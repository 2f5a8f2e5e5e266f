import Messages

/// What the agent itself reports beyond what the other checks have told.
enum AlertCheck {
    private static let told: Set<String> = [
        "write_denied", "mqtt_denied_topic", "duplicate_id", "sensor_missing", "sensor_permission", "sensor_busy",
        "sensor_fault", "sensor_identity", "sensor_stuck",
    ]

    static func judge(_ facts: Facts) -> [Verdict] {
        if let own = facts.own { return judge(own.view.alerts) }
        return facts.station.judge { station in
            guard station.isSeen else { return [.skipped("no alert can be read; \(StationFacts.silence)")] }
            guard station.view.isOnline == true else { return [.skipped("the station is not online")] }
            return judge(station.view.alerts)
        }
    }

    private static func judge(_ all: [String: Value]) -> [Verdict] {
        let alerts = all.filter { !told.contains($0.key) && $0.value.members != nil }
        let wrong = alerts.sorted { $0.key < $1.key }.map { code, alert in
            Verdict.wrong(
                Diagnosis(
                    "alert_\(code)", alert["severity"]?.rawText == "error" ? .error : .warning,
                    "The agent reports \(code): \(alert["message"]?.text ?? "")", remedy: remedy(code)))
        }
        return wrong.isEmpty ? [.fine("the agent reports nothing else")] : wrong
    }

    /// What helps, by the agent's code.
    static func remedy(_ code: String) -> String {
        switch code {
        case "sensor_missing": "seismote probe shows buses, addresses and what is missing; check wiring and power"
        case "sensor_permission":
            "seismote probe names the command; with the package: sudo udevadm trigger && sudo systemctl restart seismote"
        case "sensor_busy": "End the other program or kernel driver that has the sensor; seismote probe names it"
        case "sensor_identity":
            "Another chip answers than the settings name: correct sensor.i2c.chip, or set it to auto"
        case "sensor_fault": "Check wiring and power; seismote selftest; a shorter cable or a slower bus helps"
        case "sensor_rate": "Set sensor.rate_hz to the measured rate or turn sensor.resample on"
        case "sensor_overrun":
            "The machine is too busy or the bus too slow: lower sensor.rate_hz, or raise the bus to 400 kHz"
        case "sensor_saturated": "Set a larger sensor.range"
        case "sensor_implausible": "Calibrate the sensor (seismote calibrate); its scale or range is wrong"
        case "sensor_selftest": "seismote selftest at rest; if it fails again, replace the sensor"
        case "clock_unknown": "sudo systemctl start seismote-clock"
        case "config_refused", "config_reverted": "seismote ctl get STATION shows what is in force; set it again"
        case "queue_dropping": "Look at the connection; lower trace.rate_hz or raise storage.budget_mb"
        case "storage_failed", "storage_set_aside", "storage_taken":
            "See the checks `disk` and `memory card`; nothing else may touch storage.directory"
        case "mqtt_refused":
            "See the broker's limits and its log; reason 131 on a cluster: bring the node back that is away"
        case "mqtt_too_large": "See the broker's limits (message_size_limit) and its log"
        case "mqtt_plaintext_password": "Use mqtts:// in mqtt.uri"
        case "mqtt_credentials": "Correct mqtt.username and mqtt.password_file: sudo seismote setup"
        default: "deploy/docs/reference/messages.md and the agent's log (journalctl -u seismote) say more"
        }
    }
}
