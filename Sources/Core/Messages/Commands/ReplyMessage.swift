import Values

/// Reply to a command (`res/<id>` or an MQTT 5 response topic).
public struct ReplyMessage: Sendable, Equatable {
    public enum Phase: String, Sendable, CaseIterable {
        /// It is being carried out; another reply follows.
        case accepted
        case done
        /// The command has changed nothing.
        case failed
    }

    /// As the requester chose it; nil, and left out, when none was given or none could be read.
    public var id: String?
    /// The last level of the command's topic, also when there is no such verb.
    public var command: String
    public var phase: Phase
    /// Revision of the configuration in force.
    public var revision: Int
    /// All errors of the command.
    public var errors: [CodedError]
    /// Part of what is stored could not be read.
    public var isIncomplete = false
    /// An object.
    public var result: Value

    public init(
        id: String?, command: String, phase: Phase, revision: Int, errors: [CodedError] = [],
        result: Value = .object([])
    ) {
        self.id = id
        self.command = command
        self.phase = phase
        self.revision = revision
        self.errors = errors
        self.result = result
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("id", id, "As the requester chose it; left out when none was given or none could be read.")
        f.text("cmd", command, "The last level of the command's topic, also when there is no such command.")
        f.choice(
            "phase", phase,
            "`accepted`: in progress, another reply follows; `done`; `failed`: nothing was changed.")
        f.integer("rev", revision, "Revision of the settings in force.")
        f.objects("errors", errors, blank: CodedError("", .syntax, ""), "Everything that is wrong with the command.") {
            $0.fields(&$1)
        }
        f.flag(
            "incomplete", isIncomplete ? true : nil,
            "True: part of what the station stores could not be read, so that the result does not have all of it; else left out."
        )
        f.tree("result", result, "What the command gave; members depend on the command.")
    }
}

/// Where a reply goes.
public struct ReplyDestination: Sendable, Equatable {
    public var topic: String
    /// Goes back as it came (MQTT 5).
    public var correlation: [UInt8]?

    public init(topic: String, correlation: [UInt8]? = nil) {
        self.topic = topic
        self.correlation = correlation
    }

    /// Bytes of a response topic at most.
    static let topicBytes = 256

    /// Rule that a response topic breaks; nil when it is good.
    ///
    /// The agent publishes with its own rights at the broker: whoever asks must not have it speak where commands are
    /// read, of this station or another, nor in place of its own messages.
    public static func problem(inResponseTopic topic: String, of topics: Topics) -> String? {
        let allowed =
            "1 to \(topicBytes) bytes, no +, # or control character, no $ in front, not where commands are read or the station's own messages go"
        let bytes = topic.utf8
        guard (1...topicBytes).contains(bytes.count), bytes.first != UInt8(ascii: "$") else { return allowed }
        for byte in bytes where byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "#") {
            return allowed
        }
        guard let below = rest(of: topic, after: topics.root) else { return nil }
        let levels = below.split(separator: "/", omittingEmptySubsequences: false)
        if levels.contains("cmd") { return allowed }
        let own = levels.first.map { String($0) == topics.id } ?? false
        return own && (levels.count < 3 || levels[1] != "res") ? allowed : nil
    }

    private static func rest(of topic: String, after root: String) -> Substring? {
        guard topic.utf8.count > root.utf8.count + 1, topic.utf8.starts(with: root.utf8) else { return nil }
        let rest = topic.utf8.dropFirst(root.utf8.count)
        return rest.first == UInt8(ascii: "/") ? Substring(rest.dropFirst()) : nil
    }
}

extension Topics {
    /// Filters of everything that is a command for a station of these groups.
    public func commandFilters(groups: [String]) -> [String] {
        ["\(commandPrefix)/#"] + Topics.allGroups(groups).map { "\(root)/group/\($0)/cmd/#" }
    }

    /// The groups of a station, `all` first.
    public static func allGroups(_ groups: [String]) -> [String] { ["all"] + groups.filter { $0 != "all" } }

    /// Rule that a request id breaks; nil when it is good. It is a level of topics.
    public static func problem(inRequestID id: String) -> String? {
        let isGood = id.isMade(1...64) { $0.isOfID || ".:~@=".utf8.contains($0) }
        return isGood ? nil : "1 to 64 characters of A-Z, a-z, 0-9 and _-.:~@="
    }
}

/// Limits of a change of the settings: the same numbers for sender and station. (The limits of commands are with their
/// declarations, in the room Commands.)
public enum CommandLimits {
    /// `confirm_s`, in seconds.
    public static let confirm = 1.0...3600.0
}

/// A line of the log over MQTT (`event/log/<level>`).
public struct LogLine: Sendable, Equatable {
    public var level: String
    /// Nanoseconds of UTC.
    public var time: Int64
    public var message: String
    public var fields: [Value.Member]

    public init(level: String, time: Int64, message: String, fields: [Value.Member] = []) {
        self.level = level
        self.time = time
        self.message = message
        self.fields = fields
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("level", level, "`debug`, `info`, `notice`, `warning` or `error`.")
        f.text("message", message, "A sentence for people.")
        f.tree("fields", .object(fields), "Text or numbers by name.")
    }
}

// MARK: As others read it

/// A reply of a station of any version (see ``InfoReading``).
public struct ReplyReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    public var id: String? { tree["id"]?.rawText }
    public var command: String? { tree["cmd"]?.rawText }
    public var phase: ReplyMessage.Phase? { tree["phase"]?.rawText.flatMap { .init(rawValue: $0) } }
    public var revision: Int? { tree["rev"]?.whole }
    public var errors: [CodedErrorReading] { CodedErrorReading.all(tree) }
    public var isIncomplete: Bool { tree["incomplete"]?.flag == true }
    public var result: ResultReading { .init(tree["result"] ?? .null) }
}

/// An error of a reply.
public struct CodedErrorReading: Sendable {
    let tree: Value
    static func all(_ tree: Value) -> [Self] { (tree["errors"]?.list ?? []).map { .init(tree: $0) } }

    public var path: String? { tree["path"]?.rawText }
    public var code: String? { tree["code"]?.rawText }
    public var message: String? { tree["message"]?.rawText }
    public var got: Value? { tree["got"] }
    public var allowed: String? { tree["allowed"]?.rawText }
    public var nearest: String? { tree["nearest"]?.rawText }
}

/// The result of a reply: members depend on the command. Times are as they were sent.
public struct ResultReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    // Settings.
    public var revision: Int? { tree["rev"]?.whole }
    public var config: Value? { tree["config"] }
    public var isDry: Bool { tree["dry_run"]?.flag == true }
    public var changed: [String] { tree["changed"]?.rawTexts ?? [] }
    public var needsRestart: [String] { tree["needs_restart"]?.rawTexts ?? [] }
    public var restartsStream: [String] { tree["restart_stream"]?.rawTexts ?? [] }
    public var pendingRevision: Int? { tree["pending"]?["rev"]?.whole }
    public var pendingDeadline: String? { tree["pending"]?["deadline"]?.rawText }
    /// Keys whose values come from `file`, `overlay` or `command_line`.
    public func keys(from source: String) -> [String] { tree["sources"]?[source]?.rawTexts ?? [] }
    public var revisions: [RevisionReading] { (tree["revisions"]?.list ?? []).map { .init(tree: $0) } }
    /// The last change that was refused.
    public var rejected: RevisionReading? {
        guard let value = tree["rejected"], case .object = value else { return nil }
        return .init(tree: value)
    }

    // Events, waveforms and history.
    public var events: [Value]? { tree["events"]?.list }
    public var event: Value? { tree["event"] }
    public var eventID: String? { tree["event_id"]?.rawText }
    public var label: String? { tree["label"]?.rawText }
    /// Where the next page begins: a number of events, a time of history.
    public var nextNumber: Int? { tree["next"]?.whole }
    public var nextTime: String? { tree["next"]?.rawText }
    public var bytes: Int? { tree["bytes"]?.whole }
    public var digest: String? { tree["sha256"]?.rawText }
    public var samples: Int? { tree["samples"]?.whole }
    public var records: Int? { tree["records"]?.whole }
    public var gaps: Int? { tree["gaps"]?.whole }
    public var from: String? { tree["from"]?.rawText }
    public var to: String? { tree["to"]?.rawText }
    /// Nanoseconds of UTC.
    public var begin: Int64? { tree["from"]?.anyTime }
    /// Seconds of a step.
    public var step: Int? { tree["step_s"]?.whole }
    /// A column, such as `rms` of `x`.
    public func column(_ axis: String, _ name: String) -> [Value] { tree[axis]?[name]?.list ?? [] }
    /// Messages that were sent.
    public var messages: Int? { tree["messages"]?.whole }

    // Other commands.
    public var uptime: Double? { tree["uptime_s"]?.number }
    public var version: String? { tree["version"]?.rawText }
    public var alerts: [AlertReading] { (tree["alerts"]?.list ?? []).map { .init($0) } }
    public var hasPassed: Bool { tree["passed"]?.flag == true }
    public var since: String? { tree["since"]?.rawText }
    public var until: String? { tree["until"]?.rawText }
    public var topics: Int? { tree["topics"]?.whole }
    public var blocks: Int? { tree["blocks"]?.whole }
}

/// A revision of the settings, or a change that was refused.
public struct RevisionReading: Sendable {
    let tree: Value
    public var number: Int? { tree["rev"]?.whole }
    /// As it was sent.
    public var time: String? { tree["t"]?.rawText }
    public var source: String? { tree["source"]?.rawText }
    public var changed: [String] { tree["changed"]?.rawTexts ?? [] }
    /// The settings that were refused, and why.
    public var patch: Value? { tree["set"] }
    public var errors: [CodedErrorReading] { CodedErrorReading.all(tree) }
}

/// A line of the log as others read it.
public struct LogReading: Sendable {
    private let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    /// Time as it was sent.
    public var time: String? { tree["t"]?.rawText }
    /// The line; a station of an early version calls it `text`.
    public var words: String? { (tree["message"] ?? tree["text"])?.rawText }
    /// Everything else that it names: members of `fields`, and of the message that others do not have.
    public var fields: [Value.Member] {
        guard case .object(let members) = tree else { return [] }
        let known = ["v", "boot", "seq", "t", "level", "message", "text", "fields"]
        let others = members.filter { !known.contains($0.key) }
        guard case .object(let fields)? = tree["fields"] else { return others }
        return others + fields
    }
}
