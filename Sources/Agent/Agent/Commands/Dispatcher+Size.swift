import Commands
import Link
import Messages
import Settings

/// Replies and the largest packet that the broker takes.
extension Dispatcher {
    /// Bytes that the result of a reply may have; nil: any number.
    func resultRoom(_ request: CommandRequest) -> Int? {
        guard let limit = link.statistics.packetLimit, let destination = request.destination else { return nil }
        var message = ReplyMessage(
            id: request.id, command: request.command.name, phase: .done, revision: Int(Int32.max))
        message.isIncomplete = true
        // (Numbers go on from those of this messenger: a copy is asked.)
        var other = messenger
        let around = other.reply(message, time: HostClock.wall()).count + Self.digits
        return max(0, limit - Link.packetSize(Messenger.header(destination), payload: around))
    }

    /// The numbers of replies may grow until it leaves.
    private static let digits = 8

    /// A reply that the broker takes in the place of one that is larger; the same where it is not.
    ///
    /// Of a command that only tells the reply is `failed`, since it has told nothing. Others stay what they are: what is done
    /// is done. Each further form has less of what is not needed.
    func fitting(
        _ reply: [UInt8], _ destination: ReplyDestination, isCBOR: Bool
    ) -> (reply: [UInt8], isCBOR: Bool)? {
        let size = Link.packetSize(Messenger.header(destination, isCBOR: isCBOR), payload: reply.count)
        guard let limit = link.statistics.packetLimit, size > limit else { return (reply, isCBOR) }
        let tree = isCBOR ? CBORReader.read(reply) : try? JSONReader.read(reply)
        let name = tree?["cmd"]?.rawText ?? ""
        let phase = tree?["phase"]?.rawText.flatMap(ReplyMessage.Phase.init) ?? .failed
        let tells = Command.named(name).map { $0.onlyTells || $0 == .event } ?? true
        var message = ReplyMessage(
            id: tree?["id"]?.rawText, command: name, phase: tells && phase == .done ? .failed : phase,
            revision: tree?["rev"]?.whole ?? keeper.ledger.revision)
        let words =
            message.phase == .done
            ? "It was done. Its reply is too large for the broker: only this much of it can be sent."
            : "The reply is too large for the broker: ask for less, or let the broker take larger packets."
        let header = Messenger.header(destination)
        for error in [
            CodedError("", .tooLarge, words, got: .int(Int64(size)), allowed: "packets of at most \(limit) bytes"),
            CodedError("", .tooLarge, "reply too large", got: .int(Int64(size)), allowed: "\(limit)"),
        ] {
            message.errors = [error]
            var other = messenger
            let short = other.reply(message, time: HostClock.wall())
            if Link.packetSize(header, payload: short.count) <= limit {
                log.notice(
                    "a reply is larger than the broker takes",
                    ["command": .text(name), "bytes": .int(size), "limit": .int(limit)])
                return (short, false)
            }
        }
        var members: [Value.Member] = []
        if let id = message.id { members.append(.init("id", .string(id))) }
        members.append(.init("phase", .string(message.phase.rawValue)))
        let error: Value = ["code": "too_large", "got": .int(Int64(size)), "allowed": .string("\(limit)")]
        members.append(.init("errors", .array([error])))
        let bare = Value.object(members).json()
        if Link.packetSize(header, payload: bare.count) <= limit { return (bare, false) }
        log.warning(
            "no reply: even the shortest is larger than the broker takes",
            ["command": .text(name), "bytes": .int(size), "limit": .int(limit)])
        return nil
    }
}
