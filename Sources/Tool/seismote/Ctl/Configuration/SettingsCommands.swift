import ArgumentParser
import Commands
import Messages
import Settings
import Values

/// `seismote ctl get`
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "A station's settings in force, and where they come from.",
        discussion: "seismote ctl get basement --key trace")

    @OptionGroup var targets: TargetOptions

    @Option(
        help: ArgumentHelp("Only this setting or group of settings, such as trace.", valueName: "key"),
        completion: .list(SettingsTable.writableKeys))
    var key: String?

    @Flag(help: "Only settings that differ from the default, one per line, with their source.")
    var sources = false

    @Flag(help: "The latest revisions, and the latest change that was refused.")
    var revisions = false

    @OptionGroup var options: RequestOptions

    func validate() throws {
        guard !(sources && revisions) else { throw ValidationError("--sources and --revisions exclude each other") }
    }

    func run() throws {
        let show: (Reply) -> String =
            revisions ? Self.revisions : sources ? { Self.sources($0, key) } : { Self.settings($0, key) }
        try options.run("config-get", [:], try targets.targets(), show: show)
    }

    private static func settings(_ reply: Reply, _ key: String?) -> String {
        var tree = reply.result.config ?? .null
        for part in (key ?? "").split(separator: ".") { tree = tree[String(part)] ?? .null }
        guard tree != .null else {
            let groups = Set(
                SettingsTable.writableKeys.flatMap { key in
                    let levels = key.split(separator: ".")
                    return levels.indices.map { levels[...$0].joined(separator: ".") }
                })
            let nearest = key.flatMap { Spelling.nearest(to: $0, in: groups.sorted()) }
            return "\(heading(reply))\n  has no setting \(key ?? "at all")"
                + (nearest.map { "; did you mean \($0)?" } ?? "")
        }
        let text: String
        if let key, tree.members == nil || SettingsTable.setting(key) != nil {
            text = "\(key): \(safe(YAMLDocument.line(tree)))\n"
        } else {
            text = settingsText(tree, below: key)
        }
        return heading(reply) + "\n" + text.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
    }

    private static func heading(_ reply: Reply) -> String {
        var text = "rev \(reply.result.revision ?? reply.revision ?? 0)"
        if let deadline = reply.result.pendingDeadline {
            text += ", goes back by itself at \(timeOfDay(deadline)) UTC unless confirmed"
        }
        let waiting = reply.result.needsRestart.printable
        if !waiting.isEmpty { text += ", needs a restart for \(waiting.joined(separator: ", "))" }
        return text
    }

    private static func sources(_ reply: Reply, _ key: String?) -> String {
        let names = [("file", "file"), ("overlay", "set remotely"), ("command_line", "command line")]
        var rows: [(key: String, source: String)] = []
        for (name, words) in names {
            for one in reply.result.keys(from: name).printable { rows.append((one, words)) }
        }
        if let key { rows = rows.filter { $0.key == key || $0.key.hasPrefix(key + ".") } }
        var table = Table(["setting", "value", "from"], left: [0, 1, 2])
        for row in rows.sorted(by: { $0.key < $1.key }) {
            var value = reply.result.config
            for part in row.key.split(separator: ".") { value = value?[String(part)] }
            table.add([row.key, value.map { safe(YAMLDocument.line($0)) } ?? "-", row.source])
        }
        return heading(reply) + (rows.isEmpty ? ", all at its default" : "\n" + table.text)
    }

    private static func revisions(_ reply: Reply) -> String {
        var table = Table(["rev", "time (UTC)", "by", "changed"], left: [1, 2, 3])
        for one in reply.result.revisions {
            // The settings that the agent began with have no time and nobody who made them.
            let source = (one.source ?? "").printable
            let changed = one.changed.printable.joined(separator: ", ")
            table.add([
                one.number.map(String.init) ?? "-", dateAndTime(one.time),
                source.isEmpty ? "-" : source, changed.isEmpty ? "-" : changed,
            ])
        }
        var text = heading(reply) + "\n" + table.text
        if let rejected = reply.result.rejected {
            let source = (rejected.source ?? "").printable
            text += "\n  last change that was refused: \(dateAndTime(rejected.time))"
            text += source.isEmpty ? "" : " by \(source)"
            if let set = rejected.patch, set != .null { text += "\n  " + safe(YAMLDocument.line(set), limit: 400) }
            text += Reply.complaints(rejected.errors).map { "\n  " + $0 }.joined()
        }
        return text
    }
}

/// `seismote ctl set`
struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: Command.config.help,
        discussion: """
            seismote ctl set basement-north trace.rate_hz=10 'axes.all.detection.threshold=5 mg'

            Values are YAML; an empty value takes the setting back to its default. All of a change is applied or nothing. \
            With --auto-revert the station goes back by itself unless this command reaches it again in time over a new \
            connection, and confirms: a station that a change has cut off comes back.
            """)

    @Argument(
        help: ArgumentHelp("Stations, and settings as key=value.", valueName: "station|key=value"),
        completion: .list(SettingsTable.writableKeys.map { $0 + "=" }))
    var words: [String]

    @OptionGroup var several: GroupOptions

    @OptionGroup var change: ChangeOptions
    @OptionGroup var options: RequestOptions

    private var settings: [String] { words.filter { $0.contains("=") } }

    private func targets() throws -> Targets { try several.targets(words.filter { !$0.contains("=") }) }

    func validate() throws {
        guard !settings.isEmpty else { throw ValidationError("no setting given: add key=value") }
        _ = try targets()
    }

    func run() throws {
        let targets = try targets()
        let patch = try patchOrExit(settings)
        try change.request("config", [.init("set", patch)], patch: patch).run(targets, options)
    }
}

/// `seismote ctl rollback`
struct RollbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: Command.configRollback.help,
        discussion:
            "seismote ctl rollback basement --to 12\n\nThe latest ten are stored: `seismote ctl get --revisions`.")

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("The revision (default: the previous one).", valueName: "rev"))
    var to: Int?

    @OptionGroup var change: ChangeOptions
    @OptionGroup var options: RequestOptions

    func run() throws {
        let members: [Value.Member] = to.map { [.init("to_rev", .int(Int64($0)))] } ?? []
        try change.request("config-rollback", members).run(try targets.targets(), options)
    }
}

/// `seismote ctl reset`
struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: Command.configReset.help,
        discussion: "seismote ctl reset basement")

    @OptionGroup var targets: TargetOptions

    @OptionGroup var change: ChangeOptions
    @OptionGroup var options: RequestOptions

    func run() throws { try change.request("config-reset").run(try targets.targets(), options) }
}

/// `seismote ctl confirm`
struct ConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm", abstract: Command.configConfirm.help,
        discussion: "seismote ctl confirm basement")

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("The revision (default: the pending one).", valueName: "rev"))
    var rev: Int?

    @OptionGroup var options: RequestOptions

    func run() throws {
        let request: Value = rev.map { ["rev": .int(Int64($0))] } ?? [:]
        try options.run("config-confirm", request, try targets.targets()) { reply in
            "rev \((reply.result.revision ?? reply.revision).map(String.init) ?? "?") confirmed"
        }
    }
}
