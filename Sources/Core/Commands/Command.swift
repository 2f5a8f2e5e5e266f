import Messages

/// A command, declared once in a file of `Verbs`: what its topic is called, what it is for, which members it has, what it
/// decides, and which rules hold for it. Decoding, the list of what a station can do, the table in the documents, and
/// names, help, limits and completions of `seismote ctl` are made from these declarations.
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
