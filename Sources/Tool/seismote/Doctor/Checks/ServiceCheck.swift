/// The unit runs, and comes back after a boot.
enum ServiceCheck {
    private static let journal = "journalctl -u seismote -n 50 says why"

    static func judge(_ facts: Facts) -> [Verdict] {
        switch facts.service {
        case .known(let unit) where unit.load != "not-found": unitVerdicts(unit)
        case .known: processVerdicts(facts.agent, "there is no unit seismote.service here")
        case .unknown(let reason): processVerdicts(facts.agent, reason)
        }
    }

    private static func unitVerdicts(_ unit: ServiceFacts) -> [Verdict] {
        guard unit.active == "active" else {
            let why = unit.result.isEmpty || unit.result == "success" ? "" : ", result \(unit.result)"
            return [.wrong(stopped(unit, why))]
        }
        if unit.file == "disabled" {
            return [
                .wrong(
                    Diagnosis(
                        "unit_disabled", .warning,
                        "seismote.service runs, but does not start at the next boot (disabled).",
                        remedy: "sudo systemctl enable seismote"))
            ]
        }
        if unit.restarts > 3 {
            return [
                .wrong(
                    Diagnosis(
                        "unit_restarts", .warning,
                        "seismote.service was restarted \(unit.restarts) times since it was started.",
                        remedy: journal))
            ]
        }
        return [.fine("seismote.service is \(unit.active) (\(unit.sub)), \(unit.file)")]
    }

    private static func stopped(_ unit: ServiceFacts, _ why: String) -> Diagnosis {
        if unit.load == "masked" || unit.file == "masked" {
            return Diagnosis(
                "unit_stopped", "seismote.service is masked and cannot be started.",
                remedy: "sudo systemctl unmask seismote && sudo systemctl enable --now seismote")
        }
        // EX_CONFIG: systemd does not start it again.
        if unit.exitStatus == 78 {
            return Diagnosis(
                "unit_stopped", "seismote.service is \(unit.active): the agent refused its settings (exit status 78).",
                remedy: "seismote config check /etc/seismote/seismote.yaml, then sudo systemctl restart seismote")
        }
        let isFailed = unit.active == "failed"
        return Diagnosis(
            "unit_stopped", "seismote.service is \(unit.active) (\(unit.sub)\(why)).",
            remedy: "sudo systemctl enable --now seismote" + (isFailed ? "; \(journal)" : ""))
    }

    private static func processVerdicts(_ agent: Known<AgentFacts?>, _ reason: String) -> [Verdict] {
        agent.judge { agent in
            if let agent { return [.fine("seismoted runs (process \(agent.process)); \(reason)")] }
            return [
                .wrong(
                    Diagnosis(
                        "agent_stopped", "No seismoted with these settings runs on this machine (\(reason)).",
                        remedy: "Install the unit and start it: sudo systemctl enable --now seismote"))
            ]
        }
    }
}
