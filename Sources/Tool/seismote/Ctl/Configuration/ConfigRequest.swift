import MQTT
import Messages
import Values

/// A change of settings and, when asked for, its confirmation.
struct ConfigRequest {
    var verb: String
    /// Known part of the settings that it changes.
    var patch: Value = [:]
    /// Members of the request.
    var members: [Value.Member] = []
    /// Seconds after which the change goes back unless confirmed.
    var confirm: Double?
    /// It is not confirmed by the tool.
    var leavesPending = false

    /// It is checked and nothing is changed.
    mutating func onlyCheck() {
        members.append(.init("dry_run", true))
        if let confirm { members.append(.init("confirm_s", .double(confirm))) }
        confirm = nil
    }

    func run(_ targets: Targets, _ options: RequestOptions) throws {
        try ctl {
            let client = try options.common.connect()
            defer { client.disconnect() }
            return try run(targets, options, client)
        }
    }

    func run(_ targets: Targets, _ options: RequestOptions, _ client: BrokerClient) throws(ClientError) -> CtlStatus {
        var request = members
        if let confirm { request.append(.init("confirm_s", .double(confirm))) }
        let json = options.common.json
        let moves = confirm == nil || leavesPending ? [:] : try moves(request, targets, options, client)
        let isDry = request.contains { $0.key == "dry_run" }
        var report = AnswerReport(
            json: json,
            afterSilence: { station in
                isDry ? "" : "; the change may be in force all the same: `seismote ctl get \(station)` shows what is"
            }, show: ConfigReport.text)
        var confirmation = Confirmation(seconds: confirm ?? 0, json: json)
        let exchange = Exchange(
            client, verb, .object(request), targets, patience: options.timeout, line: WaitingLine(enabled: !json))
        exchange.onAnswer = { answer in
            report.take(answer)
            guard answer.outcome == .done else { return }
            confirmation.add(answer, at: client.options.following(moves[answer.station] ?? patch))
        }
        try exchange.run()
        let status = report.end()
        guard confirm != nil, !leavesPending, status != .interrupted else { return status }
        client.disconnect()
        let confirmed = confirmation.run()
        return confirmed == .done ? status : confirmed
    }

    /// Stations that another broker or root will be right for, with these settings: where the request itself does not
    /// say it, stations are asked what it would do.
    private func moves(
        _ request: [Value.Member], _ targets: Targets, _ options: RequestOptions, _ client: BrokerClient
    ) throws(ClientError) -> [String: Value] {
        let keys = ["uri", "root"]
        guard verb != "config" || keys.contains(where: { patch["mqtt", $0] == .null }) else { return [:] }
        let exchange = Exchange(
            client, verb, .object(request + [.init("dry_run", true)]), targets, patience: options.timeout,
            line: WaitingLine(enabled: !options.common.json))
        var moves: [String: Value] = [:]
        exchange.onAnswer = { answer in
            guard let result = answer.reply?.result else { return }
            var mqtt: [Value.Member] = []
            for key in keys where result["changed"]?.texts.contains("mqtt.\(key)") == true {
                if let value = result["config", "mqtt", key] { mqtt.append(.init(key, value)) }
            }
            moves[answer.station] = ["mqtt": .object(mqtt)]
        }
        try exchange.run()
        return moves
    }
}
