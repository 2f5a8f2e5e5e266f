import Administration
import Messages
import Values

/// The broker answers and takes us.
enum BrokerCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        facts.broker.judge { broker in
            guard let problem = broker.problem else {
                let user = broker.user.isEmpty ? "" : ", user \(broker.user)"
                let agents = facts.own?.mqtt
                guard broker.isOld || agents == "3.1.1" else { return [.fine("\(broker.name) answers\(user)")] }
                return [.fine("\(broker.name) answers\(user), with MQTT 3.1.1: \(lostWith311)")]
            }
            let cause = BrokerProblem(problem)
            return [
                .wrong(
                    Diagnosis(
                        cause.code, "No connection to the broker: \(problem)",
                        remedy: cause.remedy(broker: broker.name, user: broker.user)))
            ]
        }
    }
}

/// Functions that a station lacks when it speaks MQTT 3.1.1 (deploy/docs/connection.md).
private let lostWith311 =
    "the broker does not say what it refuses, no message expires, and replies go to …/res/<id of the command> alone (…/res/no-id without one)"

/// Kind of failure that a sentence of the connection means, and its remedy.
enum BrokerProblem {
    case name, refused, silent, credentials, fingerprint, certificate, tls, other

    init(_ sentence: String) {
        let text = sentence.lowercased()
        func has(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        if has("not authorised", "bad user name", "bad username", "not authorized") {
            self = .credentials
        } else if has("has the fingerprint") {
            self = .fingerprint
        } else if has("certificate was not accepted", "certificate verify") {
            self = .certificate
        } else if has("tls:", "ca file", "client certificate", "key file") {
            self = .tls
        } else if has("name or service", "lookup", "name resolution", "hostname") {
            self = .name
        } else if has("connection refused") {
            self = .refused
        } else if has("within", "no route", "unreachable", "timed out") {
            self = .silent
        } else {
            self = .other
        }
    }

    var code: String {
        switch self {
        case .credentials: "broker_credentials"
        case .fingerprint, .certificate, .tls: "broker_tls"
        default: "broker_away"
        }
    }

    func remedy(broker: String, user: String) -> String {
        switch self {
        case .name:
            "Correct the name in mqtt.uri (\(broker)), or try the broker's IP address; getent hosts NAME tells whether the name is known"
        case .refused:
            "Start the broker (on its machine: sudo systemctl enable --now \(broker.hasPrefix("mqtts:") ? "seismote-broker" : "mosquitto")), or correct the port in mqtt.uri (\(broker))"
        case .silent:
            "Is the broker's machine on, on the same network, and does its firewall let the port through? ping tells; \(broker)"
        case .credentials:
            (user.isEmpty
                ? "This broker wants an account: on its machine sudo seismote-broker invite STATION, here sudo seismote join with the line that it prints; or set mqtt.username and mqtt.password_file (sudo seismote setup)"
                : "Correct the password of `\(user)` (sudo seismote setup --user \(user)), or let the station join: on the broker's machine sudo seismote-broker invite \(user), here sudo seismote join with its line")
                + ". Where the broker takes some client ids only, set mqtt.client_id"
        case .fingerprint:
            "Compare it with what `seismote-broker fingerprint` prints on the broker's machine: it is misspelt, or another machine answers at \(broker)"
        case .certificate:
            "Give the broker's authority (mqtt.tls.ca_file, or sudo seismote setup --ca-fingerprint SHA256:…), use the name that the certificate is for, and see that the clock is right"
        case .tls:
            "See mqtt.tls in the settings, and that mqtts:// goes to the broker's TLS port (8883) and mqtt:// to its plain one (1883)"
        case .other: "The broker's own log says more (on its machine: journalctl -u mosquitto -n 50)"
        }
    }
}

/// Certificates that have expired, or will soon.
enum CertificateCheck {
    private static let day: Int64 = 86_400_000_000_000
    private static let soon: Int64 = 30

    static func judge(_ facts: Facts) -> [Verdict] {
        facts.certificates.judge { certificates in
            if certificates.isEmpty { return [.fine("none are in use")] }
            return certificates.map { judge($0, now: facts.now) }
        }
    }

    private static func judge(_ certificate: CertificateFacts, now: Int64) -> Verdict {
        let what = certificate.what
        guard let until = certificate.until else { return .skipped("\(what): \(certificate.problem)") }
        let date = dateAndTime(Timestamp(nanoseconds: until).description)
        let remedy =
            "Put a new one in its place (a file is read again at the next connection; a broker needs a reload); deploy/docs/understand/connection.md"
        if until <= now {
            return .wrong(Diagnosis("certificate_expired", "\(what) expired on \(date) (UTC).", remedy: remedy))
        }
        if let from = certificate.from, from > now {
            let begin = dateAndTime(Timestamp(nanoseconds: from).description)
            return .wrong(
                Diagnosis(
                    "certificate_early", "\(what) is valid only from \(begin) (UTC).",
                    remedy:
                        "Set the clock: see the check `clock`. If the clock is right, a wrong one made the certificate: deploy/docs/operate/troubleshooting.md"
                ))
        }
        let days = (until - now) / day
        if days < soon {
            return .wrong(
                Diagnosis(
                    "certificate_soon", .warning, "\(what) expires in \(days) days, on \(date) (UTC).", remedy: remedy))
        }
        return .fine("\(what) is valid for \(days) days")
    }
}

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
                        "rights_missing", "The agent reports: \(alert.message?.printable ?? code)", remedy: remedy(user)
                    ))
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
        if let alert = station.view.alerts["duplicate_id"], alert.isAlert {
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

    private static func told(_ id: String, _ alert: AlertReading, _ remedy: String) -> Diagnosis {
        Diagnosis("duplicate_id", "The agent `\(id)` reports: \((alert.message ?? "").printable)", remedy: remedy)
    }
}

extension StationFacts {
    static let silence =
        "either it never was connected, or this account may not read its messages: give a reader's with --user and --password-file"
}

/// Retained messages of an earlier id or prefix, which show a station that is no more.
enum LeftoverCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        facts.leftovers.judge { leftovers in
            var wrong: [Verdict] = []
            for base in leftovers.bases where !base.isOnline {
                wrong.append(
                    .wrong(
                        Diagnosis(
                            "retained_leftovers", .warning,
                            "The broker still has \(base.topics.count) retained messages below \(base.base), \(base.reason).",
                            remedy: clear(base.topics, leftovers))))
            }
            if !leftovers.staleAlerts.isEmpty {
                wrong.append(
                    .wrong(
                        Diagnosis(
                            "retained_leftovers", .warning,
                            "The broker still has alerts that the station does not have any more: \(leftovers.staleAlerts.joined(separator: ", ")).",
                            remedy: clear(leftovers.staleAlerts, leftovers))))
            }
            return wrong.isEmpty ? [.fine("the broker keeps nothing of earlier names")] : wrong
        }
    }

    private static func clear(_ topics: [String], _ facts: LeftoverFacts) -> String {
        "Empty them with an account that may: for t in \(topics.map { shellWord($0) }.joined(separator: " ")); do mosquitto_pub \(facts.publish) -r -n -t \"$t\"; done"
    }
}
