import Alerts
import Values

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

    private static func judge(_ all: [String: Value]) -> [Verdict] {
        let alerts = all.filter { AlertDeclaration.of($0.key)?.check == nil && $0.value.members != nil }
        let wrong = alerts.sorted { $0.key < $1.key }.map { code, alert in
            Verdict.wrong(
                Diagnosis(
                    "alert_\(code)", alert["severity"]?.rawText == "error" ? .error : .warning,
                    "The agent reports \(code): \(alert["message"]?.text ?? "")", remedy: remedy(code)))
        }
        return wrong.isEmpty ? [.fine("the agent reports nothing else")] : wrong
    }

    /// Remedy, by the agent's code.
    static func remedy(_ code: String) -> String {
        let remedy = AlertDeclaration.of(code)?.remedy.filter { $0 != "`" }
        return remedy ?? "deploy/docs/operate/alerts.md and the agent's log (journalctl -u seismote) say more"
    }

    /// The alerts that a check tells itself, with what the station says of them.
    static func alerts(of check: String, _ view: StationView?) -> [(code: String, alert: Value)] {
        AlertDeclaration.all.compactMap { one in
            guard one.check == check, let alert = view?.alerts[one.code], alert.members != nil else { return nil }
            return (one.code, alert)
        }
    }
}
