import Messages

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
