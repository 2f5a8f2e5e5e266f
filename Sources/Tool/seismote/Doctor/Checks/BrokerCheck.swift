/// The broker answers and takes us.
enum BrokerCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        facts.broker.judge { broker in
            guard let problem = broker.problem else {
                let user = broker.user.isEmpty ? "" : ", user \(broker.user)"
                let agents = facts.own?.view.info?["mqtt"]?.text
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
