import Messages

/// The account may write and read what a station has to.
enum RightsCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        let user = facts.broker.fact?.user ?? ""
        if facts.isBoundToUser { return [.wrong(bound(user, facts.settings.configuration.station.id))] }
        // What was just tried names all topics; an alert of the agent, one of them.
        if let rights = facts.rights.fact, rights.contains(where: { $0.isGranted == false }) {
            return [.wrong(refused(rights.filter { $0.isGranted == false }.map(\.topic), user))]
        }
        var verdicts: [Verdict] = []
        for (code, alert) in AlertCheck.alerts(of: "rights", facts.view) {
            verdicts.append(
                .wrong(
                    Diagnosis(
                        "rights_missing", "The agent reports: \(alert["message"]?.text ?? code)", remedy: remedy(user)))
            )
        }
        guard verdicts.isEmpty else { return verdicts }
        return facts.rights.judge { rights in
            if rights.contains(where: { $0.isGranted == nil }) {
                return [.wrong(unknown(rights.map(\.topic), user))]
            }
            return [.fine("the account may write the station's topics")]
        }
    }

    private static func refused(_ topics: [String], _ user: String) -> Diagnosis {
        Diagnosis(
            "rights_missing",
            "The broker does not let \(user.isEmpty ? "us" : "`\(user)`") write \(topics.joined(separator: ", ")).",
            remedy: remedy(user))
    }

    private static func unknown(_ topics: [String], _ user: String) -> Diagnosis {
        let lines = topics.map { "topic read \($0)" }.joined(separator: ", ")
        return Diagnosis(
            "rights_unknown", .warning,
            "The broker speaks MQTT 3.1.1 only, where it does not say what it throws away, and the account may not read its test messages back: neither the agent nor this program can know whether the station's messages arrive.",
            remedy:
                "On a broker of seismote-broker: sudo seismote-broker init, which gives this right; elsewhere give \(user.isEmpty ? "everybody" : "`\(user)`") the lines \(lines)"
        )
    }

    private static func bound(_ user: String, _ id: String) -> Diagnosis {
        Diagnosis(
            "user_mismatch",
            "The broker gives the account `\(user)` the topics of a station `\(user)`, and this station is `\(id)`: rules such as `pattern write …/%u/state/#` take the user name for the station's id, so that all it sends is refused.",
            remedy:
                "Give the station an account of its own name (on the broker's machine sudo seismote-broker invite \(id), here sudo seismote join with its line), or set station.id: \(user)"
        )
    }

    private static func remedy(_ user: String) -> String {
        let name = user.isEmpty ? "STATION" : user
        return
            "On the broker's machine sudo seismote-broker invite \(name), here sudo seismote join with its line; or give the account the lines of deploy/docs/understand/security.md: pattern write …/state/#, event/#, data/#, res/#, read …/cmd/#"
    }
}
