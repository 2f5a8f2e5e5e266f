import Messages
import Settings
import Values

/// Rules for every message that may be a command. Pure; the time is passed in.
public struct CommandGate: Sendable {
    public enum Verdict: Sendable, Equatable {
        /// Does nothing, without a reply.
        case nothing
        /// It is answered so, and nothing is done. Without a destination only counted.
        case refuse(RefusedCommand)
        /// It was carried out before: the reply of then.
        case again([UInt8], ReplyDestination)
        case carryOut(CommandRequest)
    }

    public struct RefusedCommand: Sendable, Equatable {
        public var id: String?
        public var command: String
        public var errors: [CodedError]
        public var destination: ReplyDestination?
    }

    /// A station is asked by people and by programs that watch over it; what is more than this is an accident or worse.
    static let burst = 40.0
    static let perSecond = 20.0
    /// Replies a second to commands that come too fast.
    static let complaintsPerSecond = 2.0
    /// Commands to groups that wait for their time.
    static let waitingLimit = 32
    /// Largest payload that may wait; one command of any size may wait.
    static let waitingBytes = 65_536
    static let correlationBytes = 1024

    private let topics: Topics
    private var groups: [String]
    private var rate = CommandRate(burst: burst, perSecond: perSecond)
    private var complaints = CommandRate(burst: 10, perSecond: complaintsPerSecond)
    private var waiting: [(due: Int64, request: CommandRequest)] = []
    public private(set) var memory: CommandMemory
    /// Commands that were not carried out for what they were, since the start.
    public private(set) var rejected = 0

    public init(topics: Topics, groups: [String], memory: CommandMemory = CommandMemory()) {
        self.topics = topics
        self.groups = groups
        self.memory = memory
    }

    /// Other settings, the same memory.
    public func with(topics: Topics, groups: [String]) -> CommandGate {
        var gate = CommandGate(topics: topics, groups: groups, memory: memory)
        (gate.rate, gate.complaints, gate.waiting, gate.rejected) = (rate, complaints, waiting, rejected)
        return gate
    }

    /// Commands that were lost before they came here.
    public mutating func lost(_ count: Int) { rejected += count }

    /// One that was carried out as far as to be found wrong.
    public mutating func refused() { rejected += 1 }

    /// - Parameters:
    ///   - now: of the monotonic clock; `wall`: of UTC (ns).
    ///   - connection: number of the connection that the message came over.
    public mutating func take(
        _ message: InboundMessage, connection: UInt64, now: Int64, wall: Int64,
        random: inout some RandomNumberGenerator
    ) -> Verdict {
        guard let topic = CommandTopic(message.topic, topics, groups: groups), topic.verb != "selfcheck" else {
            return .nothing
        }
        // Somebody takes a retained command away.
        if message.isRetained, message.size == 0 { return .nothing }
        guard rate.take(now: now) else {
            rejected += 1
            guard complaints.take(now: now) else { return .nothing }
            let decoded = CommandDecoder.decode(verb: topic.verb, payload: message.payload)
            return refusal(
                decoded.id, topic, message,
                CodedError(
                    "", .rateLimited, "Too many commands: send them more slowly.",
                    allowed: "\(Int(Self.perSecond)) a second"))
        }
        if message.isTooLarge {
            rejected += 1
            return refusal(
                nil, topic, message,
                CodedError(
                    "", .tooLarge, "The command is too large: \(message.size) bytes.", got: .int(Int64(message.size)),
                    allowed: "at most 65536 bytes"))
        }
        let decoded = CommandDecoder.decode(verb: topic.verb, payload: message.payload)
        if message.isRetained {
            rejected += 1
            return refusal(
                decoded.id, topic, message,
                CodedError(
                    "", .retainedCommand,
                    "A command must not be retained, since it would be carried out with every connection: publish it without `retain`."
                ))
        }
        guard var request = decoded.request else {
            rejected += 1
            return refusal(decoded.id, topic, message, decoded.errors)
        }
        let (destination, problem) = destination(request.id, message)
        if let problem {
            rejected += 1
            return refusal(request.id, topic, message, problem)
        }
        if let id = request.id, let entry = memory.entry(id) {
            return seen(entry, request, destination, topic, message)
        }
        if let late = late(request, wall: wall) {
            rejected += 1
            return refusal(request.id, topic, message, late)
        }
        (request.destination, request.group, request.connection) = (destination, topic.group, connection)
        request.bytes = message.size
        guard request.group != nil else {
            begin(request)
            return .carryOut(request)
        }
        let bytes = waiting.reduce(request.bytes) { $0 + $1.request.bytes }
        guard waiting.count < Self.waitingLimit, waiting.isEmpty || bytes <= Self.waitingBytes else {
            rejected += 1
            return refusal(
                request.id, topic, message,
                CodedError(
                    "", .rateLimited, "Too many commands to groups are waiting: ask again later.",
                    allowed: "\(Self.waitingLimit)"))
        }
        begin(request)
        let delay = Int64(random.next().fraction * request.command.groupDelay * 1e9)
        // In the order in which they came.
        waiting.append((max(now + delay, waiting.last?.due ?? 0), request))
        return .nothing
    }

    /// When the next that waits is to be carried out (ns).
    public var nextDue: Int64? { waiting.first?.due }

    /// The next that has waited long enough.
    public mutating func next(now: Int64, wall: Int64) -> Verdict? {
        guard let first = waiting.first, now >= first.due else { return nil }
        waiting.removeFirst()
        guard let late = late(first.request, wall: wall) else { return .carryOut(first.request) }
        rejected += 1
        if let id = first.request.id { memory.forget(id) }
        return .refuse(
            RefusedCommand(
                id: first.request.id, command: first.request.command.name, errors: [late],
                destination: first.request.destination))
    }

    private mutating func begin(_ request: CommandRequest) {
        guard request.command.isRemembered, let id = request.id else { return }
        memory.set(.init(id: id, digest: request.digest))
    }

    /// Reply that a command got before; nil entry: it has no id.
    public mutating func said(
        _ request: CommandRequest, _ reply: [UInt8], isFinal: Bool
    ) -> CommandMemory.Entry? {
        guard request.command.isRemembered, let id = request.id else { return nil }
        let entry = CommandMemory.Entry(id: id, digest: request.digest, reply: reply, isFinal: isFinal)
        memory.set(entry)
        return entry
    }

    // MARK: Inside

    private mutating func seen(
        _ entry: CommandMemory.Entry, _ request: CommandRequest, _ destination: ReplyDestination?,
        _ topic: CommandTopic,
        _ message: InboundMessage
    ) -> Verdict {
        guard entry.digest == request.digest else {
            rejected += 1
            return refusal(
                request.id, topic, message,
                CodedError(
                    "/id", .duplicate, "This id was used for another command: choose another id.",
                    got: .string(entry.id)))
        }
        if entry.isInterrupted {
            return refusal(
                request.id, topic, message,
                CodedError(
                    "", .internal,
                    "The agent ended while it carried this command out: look at what it has done, then ask again with another id."
                ))
        }
        guard let reply = entry.reply, let destination else { return .nothing }
        return .again(reply, destination)
    }

    private func late(_ request: CommandRequest, wall: Int64) -> CodedError? {
        guard let expires = request.expires, wall >= expires else { return nil }
        return CodedError(
            "/expires", .expired,
            "The command had expired when it was to be carried out: send it again with a later time.",
            got: .string(Timestamp(nanoseconds: expires).description),
            allowed: "later than \(Timestamp(nanoseconds: wall))")
    }

    private func refusal(
        _ id: String?, _ topic: CommandTopic, _ message: InboundMessage, _ errors: CodedError...
    ) -> Verdict { refusal(id, topic, message, errors) }

    private func refusal(
        _ id: String?, _ topic: CommandTopic, _ message: InboundMessage, _ errors: [CodedError]
    ) -> Verdict {
        .refuse(
            RefusedCommand(
                id: id, command: String(topic.verb.prefix(80)), errors: errors,
                destination: destination(id, message).0))
    }

    /// Where the reply goes: the response topic, or else the topic that the id names; with a response topic that must
    /// not be, the latter, and why. With neither it goes nowhere, but over MQTT 3.1.1, which loses response topics on the
    /// way, to `Topics.replyWithoutID`.
    private func destination(_ id: String?, _ message: InboundMessage) -> (ReplyDestination?, CodedError?) {
        let ownTopic = id.map { topics.reply(requestID: $0) } ?? (message.hasProperties ? nil : topics.replyWithoutID)
        let own = ownTopic.map { ReplyDestination(topic: $0) }
        guard let topic = message.responseTopic else { return (own, nil) }
        // A bridge with a prefix maps the topics of messages, and not the response topic in them: to whoever asks on its
        // other side our own topic is this one.
        if let id, let own, topic != own.topic, Self.ends(topic, "\(topics.id)/res/\(id)") {
            return (ReplyDestination(topic: own.topic, correlation: correlation(message)), nil)
        }
        if let allowed = ReplyDestination.problem(inResponseTopic: topic, of: topics) {
            return (
                own,
                CodedError(
                    "", .range, "Replies are not sent to this response topic: choose another one.",
                    got: Value.string(topic).shown, allowed: allowed)
            )
        }
        if let correlation = message.correlation, correlation.count > Self.correlationBytes {
            return (
                own,
                CodedError(
                    "", .tooLarge, "The correlation data are too long: \(correlation.count) bytes.",
                    got: .int(Int64(correlation.count)),
                    allowed: "at most \(Self.correlationBytes) bytes")
            )
        }
        return (ReplyDestination(topic: topic, correlation: message.correlation), nil)
    }

    /// As far as it is taken.
    private func correlation(_ message: InboundMessage) -> [UInt8]? {
        message.correlation.flatMap { $0.count > Self.correlationBytes ? nil : $0 }
    }

    /// Whether a topic ends with these levels.
    private static func ends(_ topic: String, _ levels: String) -> Bool {
        let (bytes, end) = (topic.utf8, levels.utf8)
        guard bytes.count > end.count, bytes.suffix(end.count).elementsEqual(end) else {
            return bytes.elementsEqual(end)
        }
        return bytes.dropLast(end.count).last == UInt8(ascii: "/")
    }
}

/// Which command a topic stands for.
struct CommandTopic: Equatable {
    /// The rest of the topic behind `cmd/`; not known to be a verb.
    var verb: String
    /// Nil: to this station alone.
    var group: String?

    /// Nil when it is no command for a station of these groups.
    init?(_ topic: String, _ topics: Topics, groups: [String]) {
        if let verb = Self.rest(of: topic, after: "\(topics.commandPrefix)/") {
            self.verb = verb
            return
        }
        guard let below = Self.rest(of: topic, after: "\(topics.root)/group/") else { return nil }
        for group in Topics.allGroups(groups) {
            if let verb = Self.rest(of: below, after: "\(group)/cmd/") {
                (self.verb, self.group) = (verb, group)
                return
            }
        }
        return nil
    }

    private static func rest(of text: String, after prefix: String) -> String? {
        guard text.utf8.starts(with: prefix.utf8) else { return nil }
        return String(Substring(text.utf8.dropFirst(prefix.utf8.count)))
    }
}

/// Lets so many through at once and so many per second after that. Pure: the time is passed in.
struct CommandRate: Sendable, Equatable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: Int64?

    init(burst: Double, perSecond: Double) {
        (self.burst, self.perSecond) = (burst, perSecond)
        tokens = burst
    }

    /// True, and one less, when one may pass.
    /// - Parameter now: of the monotonic clock (ns).
    mutating func take(now: Int64) -> Bool {
        if let last { tokens = min(burst, tokens + Double(max(0, now - last)) / 1e9 * perSecond) }
        last = max(last ?? now, now)
        guard tokens >= 0.999_999 else { return false }
        tokens -= 1
        return true
    }
}

extension UInt64 {
    /// A random number as one from 0 up to 1. (`Double.random(in:using:)` would never return with a source that always
    /// says the same.)
    package var fraction: Double { Double(self >> 11) * 0x1p-53 }
}

/// The commands of late by their ids, so that none is carried out twice. Pure; `CommandJournal` keeps it over restarts.
public struct CommandMemory: Sendable, Equatable {
    /// So many are remembered.
    public static let limit = 64

    public struct Entry: Sendable, Equatable {
        public var id: String
        /// Digest of the request under it.
        public var digest: String
        /// The last that was said; nil: nothing yet.
        public var reply: [UInt8]?
        /// True when no further reply follows.
        public var isFinal = false
        /// The process ended before all was said.
        var isInterrupted = false
    }

    /// The oldest first.
    public private(set) var entries: [Entry] = []

    public init() {}

    public func entry(_ id: String) -> Entry? { entries.last { $0.id == id } }

    /// Puts an entry in the place of the one with its id, or behind all others.
    mutating func set(_ entry: Entry) {
        if let index = entries.firstIndex(where: { $0.id == entry.id }) {
            entries[index] = entry
            return
        }
        entries.append(entry)
        if entries.count > Self.limit { entries.removeFirst() }
    }

    mutating func forget(_ id: String) { entries.removeAll { $0.id == id } }

    // MARK: Lines of a file

    /// Lines that were written by ``line(_:)``, in their order; what is not such a line, as one that a power cut has torn,
    /// is passed over. Whatever was not finished then never will be.
    public init(lines: some Sequence<[UInt8]>) {
        for line in lines {
            guard let tree = try? JSONReader.read(line), case .string(let id)? = tree["id"],
                Topics.problem(inRequestID: id) == nil, case .string(let digest)? = tree["digest"],
                case .bool(let isFinal)? = tree["final"]
            else { continue }
            var entry = Entry(id: id, digest: digest, isFinal: isFinal)
            if case .string(let reply)? = tree["reply"] { entry.reply = Array(reply.utf8) }
            set(entry)
        }
        for index in entries.indices where !entries[index].isFinal { entries[index].isInterrupted = true }
    }

    /// An entry as one line with its end.
    public static func line(_ entry: Entry) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("id")
        json.string(entry.id)
        json.key("digest")
        json.string(entry.digest)
        json.key("final")
        json.bool(entry.isFinal)
        if let reply = entry.reply {
            json.key("reply")
            json.string(String(decoding: reply, as: UTF8.self))
        }
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }
}
