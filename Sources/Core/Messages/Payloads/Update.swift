import Values

/// Progress and outcome of an update (`state/update`), as the updater reports it.
public struct UpdateMessage: Sendable, Equatable {
    public enum Phase: String, Sendable, CaseIterable {
        case requested, fetching, waiting, installing, watching, confirming, returning
        case updated, returned, refused, failed

        /// True for a phase that ends the update.
        public var isEnd: Bool {
            switch self {
            case .updated, .returned, .refused, .failed: true
            default: false
            }
        }

        /// Progress of an update, in percent.
        public var percent: Int? {
            switch self {
            case .requested: 0
            case .fetching: 10
            case .waiting: 30
            case .installing: 40
            case .watching: 60
            case .confirming: 80
            case .returning: 90
            default: nil
            }
        }
    }

    public var phase: Phase
    /// Nanoseconds of UTC.
    public var since: Int64
    /// Id of the command.
    public var id: String?
    public var version: String?
    public var from: String?
    public var installed: String?
    /// Nanoseconds of UTC.
    public var until: Int64?
    public var reason: String?

    /// Numbers of updates that have ended at this station, by their end.
    public struct Counts: Sendable, Equatable {
        public var updated: Int
        public var returned: Int
        public var refused: Int
        public var failed: Int

        public init(updated: Int = 0, returned: Int = 0, refused: Int = 0, failed: Int = 0) {
            (self.updated, self.returned, self.refused, self.failed) = (updated, returned, refused, failed)
        }
    }
    public var ended: Counts?

    public init(phase: Phase, since: Int64) { (self.phase, self.since) = (phase, since) }

    package func fields(_ f: inout some FieldVisitor) {
        f.choice(
            "phase", phase,
            "Where it stands. `updated`, `returned` (the version before is back), `refused` (nothing was changed) and `failed` (neither version could be put in place) are ends."
        )
        f.time("since", since, "Since when.")
        f.text("id", id, "The member `id` of the command.")
        f.text("version", version, "The version that was asked for.")
        f.text("from", from, "The version before.")
        f.text("installed", installed, "The version of the Debian package that is installed.")
        f.integer("progress_pct", phase.percent, unit: "%", "How much of it is done; left out at its end.")
        f.time("until", until, "When it goes back unless it has worked and was confirmed.")
        f.text("reason", reason, "Why it was refused, or went back.")
        f.object(
            "ended", ended, blank: Counts(),
            "How many updates have ended so at this station, of those that its updater has begun or refused."
        ) { counts, f in
            f.integer("updated", counts.updated, "With the new version.")
            f.integer("returned", counts.returned, "With the version before.")
            f.integer("refused", counts.refused, "Without any change.")
            f.integer("failed", counts.failed, "With neither.")
        }
    }
}

/// A version of the agent that somebody wants.
public struct UpdateRequest: Sendable, Equatable {
    public var version: String
    /// Id of the command.
    public var id: String?
    public var isAutomatic: Bool
    public var allowsDowngrade: Bool

    public init(version: String, id: String? = nil, isAutomatic: Bool = false, allowsDowngrade: Bool = false) {
        (self.version, self.id) = (version, id)
        (self.isAutomatic, self.allowsDowngrade) = (isAutomatic, allowsDowngrade)
    }

    public static let versionForm =
        "1 to 64 characters: a digit, then letters, digits and . + ~ -, perhaps with an epoch such as 1: in front; no address and no file"

    /// A version of Debian's form, as the updater takes it: with nothing in it that apt or a shell reads as more.
    public static func isVersion(_ text: String) -> Bool {
        var bytes = Substring(text).utf8
        guard (1...64).contains(bytes.count) else { return false }
        let digits = bytes.prefix { $0.isDigit }
        if (1...5).contains(digits.count), bytes.dropFirst(digits.count).first == UInt8(ascii: ":") {
            bytes = bytes.dropFirst(digits.count + 1)
        }
        guard let first = bytes.first, first.isDigit else { return false }
        return bytes.allSatisfy { $0.isAlphanumeric || ".+~-".utf8.contains($0) }
    }

    /// As the updater reads it: one line.
    public var line: String {
        "\(version) \(id ?? "-") \(isAutomatic ? "auto" : "confirm") \(allowsDowngrade ? "downgrade" : "upwards")\n"
    }

    /// Reads such a line, of which nothing is believed.
    /// - Returns: the id of the command, if it is one; the request, or nil when the line is none.
    package static func read(_ line: String) -> (id: String?, request: UpdateRequest?) {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        let id = words.count > 1 && words[1] != "-" && Topics.problem(inRequestID: words[1]) == nil ? words[1] : nil
        guard words.count == 4, isVersion(words[0]), ["auto", "confirm"].contains(words[2]),
            ["upwards", "downgrade"].contains(words[3])
        else { return (id, nil) }
        let request = UpdateRequest(
            version: words[0], id: id, isAutomatic: words[2] == "auto", allowsDowngrade: words[3] == "downgrade")
        return (id, request)
    }
}

/// The updater's file `state.json`: how its update stands, and the last request that it has
/// refused meanwhile. The agent publishes it.
package struct UpdateStatement: Sendable, Equatable {
    package var message: UpdateMessage
    /// A request that came while another update was under way, with the reason.
    package var refused: UpdateMessage?

    package init(_ message: UpdateMessage, refused: UpdateMessage? = nil) {
        (self.message, self.refused) = (message, refused)
    }

    package init?(json: [UInt8]) {
        guard let value = try? JSONReader.read(json), let message = UpdateMessage(value) else { return nil }
        self.init(message, refused: value["refused"].flatMap { UpdateMessage($0) })
    }

    /// One line.
    package var json: [UInt8] {
        var members = message.members
        if let refused { members.append(.init("refused", .object(refused.members))) }
        return Value.object(members).json() + [10]
    }
}

extension UpdateMessage {
    /// The statement in a file of the updater; nil for any other file.
    public init?(json: [UInt8]) {
        guard let value = try? JSONReader.read(json) else { return nil }
        self.init(value)
    }

    fileprivate init?(_ value: Value) {
        guard let phase = Self.text(value, "phase").flatMap(Phase.init),
            let since = value["t"]?.anyTime
        else { return nil }
        self.init(phase: phase, since: since)
        (id, version, from) = (Self.text(value, "id"), Self.text(value, "version"), Self.text(value, "from"))
        (installed, reason) = (Self.text(value, "installed"), Self.text(value, "reason"))
        until = value["until"]?.anyTime
        ended = value["ended"].map { Counts($0) }
    }

    private static func text(_ value: Value, _ name: String) -> String? {
        guard let text = value[name]?.rawText, !text.isEmpty else { return nil }
        return text
    }

    /// As the updater's file has it: times of whole seconds.
    fileprivate var members: [Value.Member] {
        func seconds(_ time: Int64) -> Value {
            .string(Timestamp(nanoseconds: time).description.prefix(19) + "Z")
        }
        var members: [Value.Member] = [.init("phase", .string(phase.rawValue)), .init("t", seconds(since))]
        for (name, text) in [("id", id), ("version", version), ("from", from)] {
            if let text { members.append(.init(name, .string(text))) }
        }
        if let until { members.append(.init("until", seconds(until))) }
        if let installed { members.append(.init("installed", .string(installed))) }
        if let ended { members.append(.init("ended", ended.value)) }
        if let reason { members.append(.init("reason", .string(reason))) }
        return members
    }
}

extension UpdateMessage.Counts {
    /// As the updater keeps it.
    package var value: Value {
        [
            "updated": .int(Int64(updated)), "returned": .int(Int64(returned)), "refused": .int(Int64(refused)),
            "failed": .int(Int64(failed)),
        ]
    }

    package init(_ value: Value) {
        func count(_ name: String) -> Int {
            guard case .int(let number)? = value[name], (0...999_999_999).contains(number) else { return 0 }
            return Int(number)
        }
        self.init(
            updated: count("updated"), returned: count("returned"), refused: count("refused"), failed: count("failed"))
    }
}

extension UpdateMessage.Counts {
    package init(text: String) {
        self.init((try? JSONReader.read(Array(text.utf8))) ?? .null)
    }

    package var text: String { String(decoding: value.json(), as: UTF8.self) }
}

// MARK: As others read it

/// `state/update` of a station of any version (see ``InfoReading``).
public struct UpdateReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    /// Id of the command that asked for the update.
    public var id: String? { tree["id"]?.rawText }
    public var phase: UpdateMessage.Phase? { tree["phase"]?.rawText.flatMap { .init(rawValue: $0) } }
    public var reason: String? { tree["reason"]?.rawText }
}
