import Messages
import Values

/// A command, declared once in `Verbs`, in the file of the owner that carries it out: what its topic is called, what it is
/// for, which members it has, what it decides, and which rules hold for it. Decoding, the list of what a station can do,
/// the table in the documents, and names, help, limits and completions of `seismote ctl` are made from these declarations.
public struct Command: Sendable {
    /// The last level of its topic.
    public let name: String
    /// A sentence for people.
    public let help: String
    /// Beside those that every command has (``CommandMember/common``).
    public let members: [CommandMember]
    /// Content of the reply's `result`, for the documents.
    public let result: String
    /// It changes nothing: asked twice is the same as asked once.
    public var onlyTells = false
    /// Its data go to a topic with the id in it.
    public var needsID = false
    /// Asked twice under the same id it is carried out twice: its replies are too long to be remembered.
    public var isRemembered = true
    /// So many of it at a time.
    public var most = Int.max
    /// Asked of a group, it is carried out after a random delay of up to so many seconds, so that not all answer at once.
    public var groupDelay = 5.0
    /// Contradiction between members. Also called when one of them is wrong itself.
    let check: @Sendable (CommandMembers) -> CodedError?
    let decide: @Sendable (CommandRequest, CommandContext) -> CommandDecision

    init(
        _ name: String, _ help: String, members: [CommandMember] = [], result: String, onlyTells: Bool = false,
        needsID: Bool = false, most: Int = .max, isRemembered: Bool = true, groupDelay: Double = 5,
        check: @escaping @Sendable (CommandMembers) -> CodedError? = { _ in nil },
        decide: @escaping @Sendable (CommandRequest, CommandContext) -> CommandDecision
    ) {
        (self.name, self.help, self.members, self.result) = (name, help, members, result)
        (self.onlyTells, self.needsID, self.most, self.groupDelay) = (onlyTells, needsID, most, groupDelay)
        (self.isRemembered, self.check, self.decide) = (isRemembered, check, decide)
    }

    /// The command of this name.
    public static func named(_ name: String) -> Command? { all.first { $0.name == name } }

    public func member(_ name: String) -> CommandMember? { members.first { $0.name == name } }
}

extension Command: Equatable {
    public static func == (a: Command, b: Command) -> Bool { a.name == b.name }
}

/// A member of a command's object: its name, what may stand there, what it is for.
public struct CommandMember: Sendable {
    public enum Kind: Sendable {
        case text
        case choice([String])
        case flag
        case whole(ClosedRange<Int>)
        case number(ClosedRange<Double>, unit: String)
        /// RFC 3339.
        case time
        case object
        /// As it is; looked at when the command is carried out.
        case any
    }

    public let name: String
    public let kind: Kind
    /// A few words; of an object also what an error says is missing.
    public let help: String
    /// Value when it is left out, for the documents.
    public let standard: String?
    public let isNeeded: Bool

    init(_ name: String, _ kind: Kind, _ help: String, standard: String? = nil, isNeeded: Bool = false) {
        (self.name, self.kind, self.help, self.standard, self.isNeeded) = (name, kind, help, standard, isNeeded)
    }

    /// Members of every command.
    public static let common = [
        CommandMember("id", .text, "the name of this request"),
        CommandMember("expires", .time, "later than that it is refused"),
        CommandMember("source", .text, "who asks"),
    ]

    /// Allowed values, in words.
    public var allowed: String {
        switch kind {
        case .text: "text"
        case .choice(let words): words.joined(separator: ", ")
        case .flag: "true or false"
        case .whole(let range): "\(range.lowerBound)…\(range.upperBound), a whole number"
        case .number(let range, let unit):
            "\(Self.text(range.lowerBound))…\(Self.text(range.upperBound)) \(unit)"
        case .time: "RFC 3339, such as 2026-01-05T10:20:30Z"
        case .object, .any: help
        }
    }

    /// Bounds of a number; nil for other kinds.
    public var range: ClosedRange<Double>? { if case .number(let range, _) = kind { range } else { nil } }

    /// Words to choose from; empty for other kinds.
    public var words: [String] { if case .choice(let words) = kind { words } else { [] } }

    static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
    }
}

extension Command {
    /// Every command, in the order in which the documents and `state/info` list them.
    public static let all: [Command] = [
        .config,
        .configConfirm,
        .configRollback,
        .configReset,
        .configGet,
        .snapshot,
        .stream,
        .events,
        .event,
        .history,
        .resend,
        .label,
        .confirmEvent,
        .resetExtremes,
        .calibrate,
        .selftest,
        .testEvent,
        .silence,
        .alarmTest,
        .alerts,
        .status,
        .rebirth,
        .log,
        .logTail,
        .ping,
        .time,
        .restart,
        .update,
        .updateConfirm,
    ]
}

/// A command that could be read whole: everything in it has the right type and is within its bounds.
public struct CommandRequest: Sendable, Equatable {
    public var command: Command
    public var members: CommandMembers
    public var id: String?
    /// Nanoseconds of UTC.
    public var expires: Int64?
    /// Sender, for the log.
    public var source = ""
    /// Nil: it was sent to this station alone.
    public var group: String?
    /// The same for the same command, whatever its id, expiry and source.
    public var digest = ""
    public var destination: ReplyDestination?
    /// Size of its payload, bytes.
    public var bytes = 0
    /// Number of the connection that it came over.
    public var connection: UInt64 = 0

    /// Decides on the request. Pure: nothing happens by asking.
    public func decision(_ context: CommandContext) -> CommandDecision { command.decide(self, context) }
}

/// Facts about the agent for a command; read only, as of the moment at which it is carried out.
public struct CommandContext {
    /// Revision of the settings in force.
    public var revision: Int
    /// UUID of this run.
    public var boot: String
    /// Seconds since the start.
    public var uptime: Double
    /// Nanoseconds of UTC.
    public var wall: Int64
    public var topics: Topics
    /// Samples per second of the sensor, else of the settings.
    public var rate: Double
    /// Confirmations of the station's events by a network are accepted (`detection.event.confirmation`).
    public var takesConfirmations: Bool
    /// Obstacles to an update.
    public var update: UpdateSituation
    /// The faults that there are now.
    public var alerts: [AlertMessage]
    /// The host's clock as far as the kernel knows it; `offset`: nanoseconds that it is behind its source, nil where that is
    /// not known.
    public var clock: () -> (quality: TimeQuality, offset: Int?)
    /// As `state/health`.
    public var status: () -> Value

    public init(
        revision: Int, boot: String, uptime: Double, wall: Int64, topics: Topics, rate: Double,
        takesConfirmations: Bool, alerts: [AlertMessage], update: UpdateSituation = UpdateSituation(),
        clock: @escaping () -> (quality: TimeQuality, offset: Int?), status: @escaping () -> Value
    ) {
        (self.revision, self.boot, self.uptime, self.wall, self.topics) = (revision, boot, uptime, wall, topics)
        (self.rate, self.takesConfirmations, self.alerts) = (rate, takesConfirmations, alerts)
        (self.update, self.clock, self.status) = (update, clock, status)
    }
}

/// Decision on a command.
public enum CommandDecision: Sendable, Equatable {
    /// It is done: the result.
    case reply(Value)
    /// An owner does it; what comes of it is the reply.
    case effect(CommandEffect)
    case refuse([CodedError])
}

/// Effect of a command: a task for the owner of a part of the agent, who gets the value in the braces as it is.
public enum CommandEffect: Sendable, Equatable {
    case settings(SettingsOrder)
    case main(MainOrder)
    case sampling(SamplingOrder)
    case alarm(AlarmOrder)
    case storage(StorageOrder)
    /// The reply is what the storage says.
    case both(SamplingOrder, StorageOrder)
}
