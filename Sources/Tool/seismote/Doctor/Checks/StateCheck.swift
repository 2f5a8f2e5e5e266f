import Messages

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
            let sensor = state.view.health?["sensor"]?.text ?? "unknown"
            return [.fine("process \(agent.process) answers: sensor \(sensor), broker \(safe(state.broker))")]
        }
    }
}
