import Settings
import Values

/// One of the replies to a request (interface.md), as far as it is one.
struct Reply {
    enum Phase: String { case accepted, done, failed }

    var phase: Phase
    var revision: Int?
    var errors: [Value]
    var result: Value
    /// As it was sent.
    var object: Value
    /// Part of what the station stores could not be read.
    var isIncomplete: Bool { object["incomplete"] == .bool(true) }

    static let incomplete =
        "this is not complete: part of what the station stores could not be read (see its alert storage_set_aside and its log)"
    /// Station that answers, by the topic.
    var station = ""
    /// From the request to this reply.
    var seconds = 0.0

    /// Nil when it is none, or one to another request.
    init?(_ payload: [UInt8], request: String) {
        guard let object = try? JSONReader.read(payload), object["id"]?.rawText == request,
            let phase = object["phase"]?.rawText.flatMap(Phase.init)
        else { return nil }
        self.phase = phase
        revision = object["rev"]?.whole
        errors = object["errors"]?.list ?? []
        result = object["result"] ?? .null
        self.object = object
    }

    /// One line for each error.
    var complaints: [String] { Self.complaints(errors) }

    /// One line for each of some error objects.
    static func complaints(_ errors: [Value]) -> [String] { errors.prefix(200).map(complaint) }

    private static func complaint(_ error: Value) -> String {
        var text = ""
        if let path = error["path"]?.text, !path.isEmpty { text += path + ": " }
        text += error["message"]?.text ?? "refused"
        var details = [error["code"]?.text ?? "?"]
        if let got = error["got"] { details.append("got \(safe(got.jsonText, limit: 80))") }
        if let allowed = error["allowed"]?.text { details.append("allowed: \(allowed)") }
        if let nearest = error["nearest"]?.text { details.append("did you mean `\(nearest)`?") }
        return text + " [" + details.joined(separator: "; ") + "]"
    }
}

/// Outcome of a request at one station.
struct Answer {
    enum Outcome: String {
        case done, failed
        /// Said by the broker, and no `ping` was answered; nothing else was sent to it.
        case offline
        /// No reply at all, or none after `accepted`.
        case silent
    }

    var station: String
    var outcome: Outcome
    var reply: Reply?
    /// From the request to this end.
    var seconds = 0.0

    /// One line of `--json`.
    var value: Value {
        var members: [Value.Member] = [
            .init("station", .string(station)), .init("outcome", .string(outcome.rawValue)),
        ]
        if let reply { members.append(.init("reply", reply.object)) }
        return .object(members)
    }
}
