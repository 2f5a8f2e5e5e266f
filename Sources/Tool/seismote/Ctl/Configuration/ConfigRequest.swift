import ArgumentParser
import MQTT
import Messages
import Settings
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
            for key in keys where result.changed.contains("mqtt.\(key)") {
                if let value = result.config?["mqtt", key] { mqtt.append(.init(key, value)) }
            }
            moves[answer.station] = ["mqtt": .object(mqtt)]
        }
        try exchange.run()
        return moves
    }
}

/// Options of every command that changes settings.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Check the change and show what it would do, without applying it.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "The change reverts after this time, 1 to 3600 s, unless the station can be reached again: this command looks, and "
                + "confirms it.", valueName: "s"))
    var autoRevert: Double?

    /// The name of earlier versions, which was misunderstood: it confirms by itself.
    @Option(name: .customLong("confirm"), help: ArgumentHelp("Former name of --auto-revert.", visibility: .hidden))
    var former: Double?

    private var confirm: Double? { autoRevert ?? former }

    @Flag(help: "With --auto-revert: do not confirm; that is left to `seismote ctl confirm`.")
    var leavePending = false

    @Option(help: ArgumentHelp("Refuse unless this is the revision in force.", valueName: "rev"))
    var ifRev: Int?

    func validate() throws {
        if let confirm, !CommandLimits.confirm.contains(confirm) {
            throw ValidationError("--auto-revert must be from 1 to 3600")
        }
        if leavePending, confirm == nil { throw ValidationError("--leave-pending needs --auto-revert") }
    }

    /// The request with these options.
    /// - Parameters:
    ///   - members: what the verb needs.
    ///   - patch: the settings that it changes, where it says them.
    ///   - shown: the revision that the change was made for.
    func request(
        _ verb: String, _ members: [Value.Member] = [], patch: Value = [:], shown: Int? = nil
    ) -> ConfigRequest {
        var request = ConfigRequest(
            verb: verb, patch: patch, members: members, confirm: confirm, leavesPending: leavePending)
        if dryRun { request.onlyCheck() }
        if let revision = ifRev ?? shown { request.members.append(.init("if_rev", .int(Int64(revision)))) }
        return request
    }
}

/// Report on a change of settings, from the `done` of `config`, `config-rollback` and `config-reset`.
enum ConfigReport {
    static func text(_ reply: Reply) -> String {
        let result = reply.result
        let isDry = result.isDry
        let changed = result.changed.printable
        let revision = (result.revision ?? reply.revision).map { "rev \($0)" } ?? "done"
        if changed.isEmpty { return "\(revision), nothing changes" }
        var lines = [isDry ? "\(revision) now; this would change \(changed.count)" : "\(revision), changed"]
        for key in changed {
            // What it would be, where the station says it.
            var value = isDry ? result.config : nil
            for part in key.split(separator: ".") { value = value?[String(part)] }
            let effect = Self.effect(key, result, isDry)
            lines.append("  \(key)\(value.map { ": \(safe(YAMLDocument.line($0)))" } ?? "")\(effect)")
        }
        if let deadline = result.pendingDeadline {
            lines.append("  will be reverted at \(timeOfDay(deadline)) UTC unless confirmed")
        }
        return lines.joined(separator: "\n")
    }

    private static func effect(_ key: String, _ result: ResultReading, _ isDry: Bool) -> String {
        if result.needsRestart.printable.contains(key) { return "   needs a restart of the agent" }
        if result.restartsStream.printable.contains(key) { return "   the sensor is opened anew" }
        return isDry ? "   at once" : ""
    }
}

/// Differences between two trees of settings, setting by setting.
struct SettingChanges {
    struct Change {
        var path: [String]
        /// Nil: not there.
        var old: Value?
        var new: Value?
        var key: String { path.joined(separator: ".") }
    }

    private(set) var changes: [Change] = []

    init(from old: Value, to new: Value) { compare(old, new, []) }

    var isEmpty: Bool { changes.isEmpty }

    /// As a merge patch; what is not there any more becomes null, its default.
    var patch: Value {
        changes.reduce([:]) { Self.putting($1.new ?? .null, at: $1.path[...], into: $0) }
    }

    /// Two lines for each, in the order of the new tree: `- trace.rate_hz: 20`, `+ trace.rate_hz: 10`.
    var text: String {
        changes.map { change in
            let key = safe(change.key)
            let before = change.old.map { "- \(key): \(safe(YAMLDocument.line($0)))\n" } ?? ""
            return before + "+ \(key): " + (change.new.map { safe(YAMLDocument.line($0)) } ?? "(default)")
        }.joined(separator: "\n")
    }

    private mutating func compare(_ old: Value?, _ new: Value?, _ path: [String]) {
        if let before = old?.members, let after = new?.members,
            SettingsTable.setting(path.joined(separator: ".")) == nil
        {
            for member in after { compare(old?[member.key], member.value, path + [member.key]) }
            for member in before where new?[member.key] == nil { compare(member.value, nil, path + [member.key]) }
        } else if !Self.same(old, new) {
            // A group that has gone goes setting by setting: null for a group the station may not take.
            if new == nil, let before = old?.members, SettingsTable.setting(path.joined(separator: ".")) == nil {
                for member in before { compare(member.value, nil, path + [member.key]) }
            } else {
                changes.append(Change(path: path, old: old, new: new))
            }
        }
    }

    /// Equal, 20 and 20.0 as well.
    private static func same(_ a: Value?, _ b: Value?) -> Bool {
        switch (a, b) {
        case (nil, nil): true
        case (.array(let a)?, .array(let b)?): a.count == b.count && zip(a, b).allSatisfy { same($0, $1) }
        case (.object(let a)?, .object(let b)?):
            a.count == b.count && a.allSatisfy { one in same(one.value, b.first { $0.key == one.key }?.value) }
        case (let a?, let b?): a == b || a.number != nil && a.number == b.number
        default: false
        }
    }

    private static func putting(_ value: Value, at path: ArraySlice<String>, into tree: Value) -> Value {
        guard let first = path.first else { return value }
        var members = tree.members ?? []
        let i = members.firstIndex { $0.key == first }
        let child = putting(value, at: path.dropFirst(), into: i.map { members[$0].value } ?? [:])
        if let i { members[i].value = child } else { members.append(.init(first, child)) }
        return .object(members)
    }
}
