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
