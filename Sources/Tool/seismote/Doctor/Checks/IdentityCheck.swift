import Values

/// No other station has this id.
enum IdentityCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        let id = facts.settings.configuration.station.id
        let remedy = AlertCheck.remedy("duplicate_id")
        if let alert = facts.own?.view.alerts["duplicate_id"] { return [.wrong(told(id, alert, remedy))] }
        guard let station = facts.station.fact, station.isSeen else {
            if facts.own != nil { return [.fine("`\(id)` is one station, as far as the agent has seen")] }
            return facts.station.judge { _ in
                [.skipped("nothing of `\(id)` can be read from the broker; \(StationFacts.silence)")]
            }
        }
        if let alert = station.view.alerts["duplicate_id"], alert.members != nil {
            return [.wrong(told(id, alert, remedy))]
        }
        if Set(station.boots).count < station.boots.count {
            return [
                .wrong(
                    Diagnosis(
                        "duplicate_id",
                        "Messages of `\(id)` come from two agents in turn: another station has the same id.",
                        remedy: remedy))
            ]
        }
        if case .known(nil) = facts.agent, !station.boots.isEmpty {
            return [
                .wrong(
                    Diagnosis(
                        "duplicate_id",
                        "`\(id)` is sending now though no agent with these settings runs on this machine: another station has the same id.",
                        remedy: remedy))
            ]
        }
        return [.fine("`\(id)` is one station")]
    }

    private static func told(_ id: String, _ alert: Value, _ remedy: String) -> Diagnosis {
        Diagnosis("duplicate_id", "The agent `\(id)` reports: \(alert["message"]?.text ?? "")", remedy: remedy)
    }
}

extension StationFacts {
    static let silence =
        "either it never was connected, or this account may not read its messages: give a reader's with --user and --password-file"
}
