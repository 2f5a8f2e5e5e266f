/// What became of a command (`res/<id>` or an MQTT 5 response topic).
public struct ReplyMessage: Sendable, Equatable {
    public enum Phase: String, Sendable, CaseIterable {
        /// It is being carried out; another reply follows.
        case accepted
        case done
        /// Nothing was changed.
        case failed
    }

    /// As the requester chose it; nil, and left out, when none was given or none could be read.
    public var id: String?
    /// The last level of the command's topic, also when there is no such verb.
    public var command: String
    public var phase: Phase
    /// Of the configuration in force.
    public var revision: Int
    /// Everything that is wrong.
    public var errors: [CodedError]
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

    func write(station: String, to json: inout JSONWriter) {
        if let id {
            json.key("id")
            json.string(id)
        }
        json.key("station")
        json.string(station)
        json.key("cmd")
        json.string(command)
        json.key("phase")
        json.string(phase.rawValue)
        json.key("rev")
        json.int(revision)
        json.key("errors")
        json.beginArray()
        for error in errors { error.write(to: &json) }
        json.endArray()
        json.key("result")
        json.value(result)
    }
}
