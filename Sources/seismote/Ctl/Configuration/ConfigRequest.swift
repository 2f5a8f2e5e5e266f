import Messages

/// A change of settings and, when asked for, its confirmation.
struct ConfigRequest {
    var verb = "config"
    var patch: Value = [:]
    /// Members of the request.
    var members: [Value.Member] = []
    /// Seconds after which the change goes back unless confirmed.
    var confirm: Double?
    /// It is not confirmed by the tool.
    var leavesPending = false

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
        var report = AnswerReport(json: json, show: ConfigReport.text)
        var confirmation = Confirmation(client.access, patch: patch, seconds: confirm ?? 0, json: json)
        let exchange = Exchange(
            client, verb, .object(request), targets, patience: options.timeout, line: WaitingLine(enabled: !json))
        exchange.onAnswer = { answer in
            report.take(answer)
            if answer.outcome == .done { confirmation.add(answer) }
        }
        try exchange.run()
        let status = report.end()
        guard confirm != nil, !leavesPending, status != .interrupted else { return status }
        client.disconnect()
        let confirmed = confirmation.run()
        return confirmed == .done ? status : confirmed
    }
}
