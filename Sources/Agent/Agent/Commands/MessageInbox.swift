import Commands
import MQTT
import Messages
import Platform
import Settings
import Values

/// Messages on their way from the link's thread to the main thread. Bounded; what does not fit is counted.
final class MessageInbox: Sendable {
    private struct State {
        var waiting: [InboundMessage] = []
        var bytes = 0
        var lost = 0
    }
    private let state = Mutex(State())
    private let messages, bytes: Int
    private let keepsNewest: Bool
    /// Signalled when there is something; also by others who have news for the main thread.
    let wake: Wake

    /// - Parameter keepsNewest: a message that does not fit pushes the oldest out; else it is lost itself.
    private init(messages: Int, bytes: Int, keepsNewest: Bool, wake: Wake) {
        (self.messages, self.bytes, self.keepsNewest, self.wake) = (messages, bytes, keepsNewest, wake)
    }

    static func commands() throws(AgentError) -> MessageInbox {
        MessageInbox(messages: 64, bytes: 1 << 20, keepsNewest: false, wake: try .make())
    }

    /// For the network's events, apart from commands: no number of those keeps a warning waiting.
    /// - Parameter wake: of the main thread.
    static func events(wake: Wake) -> MessageInbox {
        MessageInbox(messages: 8, bytes: .max, keepsNewest: true, wake: wake)
    }

    /// Never waits.
    func put(_ message: InboundMessage) {
        let isIn = state.withLock { state in
            if keepsNewest, state.waiting.count == messages {
                state.bytes -= state.waiting.removeFirst().payload.count
                state.lost += 1
            }
            guard state.waiting.count < messages, state.bytes + message.payload.count <= bytes else {
                state.lost += 1
                return false
            }
            state.waiting.append(message)
            state.bytes += message.payload.count
            return true
        }
        if isIn { wake.signal() }
    }

    /// Returns all waiting messages in their order, and how many found no room.
    func take() -> (messages: [InboundMessage], lost: Int) {
        state.withLock { state in
            defer { state = State() }
            return (state.waiting, state.lost)
        }
    }
}

/// Fits a reply into the largest packet that the broker takes.
struct ReplyRoom {
    /// A reply as it leaves.
    enum Form: Equatable {
        /// As it is.
        case whole
        /// JSON in the place of the reply to a command, whose packet would have so many bytes; nil: even the shortest is too
        /// large.
        case short([UInt8]?, command: String, bytes: Int)
    }

    /// Bytes of the largest packet, with its topic and properties.
    let limit: Int
    /// (A copy: the numbers of the station's own go on by what leaves.)
    let messenger: Messenger
    /// Revision of the settings in force, for a reply without one.
    let revision: Int

    /// Bytes that the result of a reply may have.
    /// - Parameter time: nanoseconds since 1970.
    func result(id: String?, command: String, destination: ReplyDestination, time: Int64) -> Int {
        var message = ReplyMessage(id: id, command: command, phase: .done, revision: Int(Int32.max))
        message.isIncomplete = true
        var other = messenger
        let around = other.reply(message, time: time).count + Self.digits
        return max(0, limit - Link.packetSize(Messenger.header(destination), payload: around))
    }

    /// The numbers of replies may grow until it leaves.
    private static let digits = 8

    /// A reply that the broker takes in the place of one that is larger.
    ///
    /// Of a command that only tells the reply is `failed`, since it has told nothing. Others stay what they are: what is done
    /// is done. Each further form has less of what is not needed.
    /// - Parameter time: nanoseconds since 1970.
    func form(_ reply: [UInt8], _ destination: ReplyDestination, isCBOR: Bool, time: Int64) -> Form {
        let size = Link.packetSize(Messenger.header(destination, isCBOR: isCBOR), payload: reply.count)
        guard size > limit else { return .whole }
        let message = shortened(reply, isCBOR: isCBOR)
        let words =
            message.phase == .done
            ? "It was done. Its reply is too large for the broker: only this much of it can be sent."
            : "The reply is too large for the broker: ask for less, or let the broker take larger packets."
        let long = CodedError(
            "", .tooLarge, words, got: .int(Int64(size)), allowed: "packets of at most \(limit) bytes")
        let brief = CodedError("", .tooLarge, "reply too large", got: .int(Int64(size)), allowed: "\(limit)")
        for bytes in [
            encoded(message, long, time: time), encoded(message, brief, time: time), bare(message, size: size),
        ] where Link.packetSize(Messenger.header(destination), payload: bytes.count) <= limit {
            return .short(bytes, command: message.command, bytes: size)
        }
        return .short(nil, command: message.command, bytes: size)
    }

    /// Sender and outcome of the reply alone, in a shortened one.
    private func shortened(_ reply: [UInt8], isCBOR: Bool) -> ReplyMessage {
        let read = (isCBOR ? CBORReader.read(reply) : try? JSONReader.read(reply)).map(ReplyReading.init)
        let name = read?.command ?? ""
        let phase = read?.phase ?? .failed
        let tells = Command.named(name).map { $0.onlyTells || $0 == .event } ?? true
        return ReplyMessage(
            id: read?.id, command: name, phase: tells && phase == .done ? .failed : phase,
            revision: read?.revision ?? revision)
    }

    private func encoded(_ message: ReplyMessage, _ error: CodedError, time: Int64) -> [UInt8] {
        var (message, other) = (message, messenger)
        message.errors = [error]
        return other.reply(message, time: time)
    }

    private func bare(_ message: ReplyMessage, size: Int) -> [UInt8] {
        var members: [Value.Member] = []
        if let id = message.id { members.append(.init("id", .string(id))) }
        members.append(.init("phase", .string(message.phase.rawValue)))
        let error: Value = ["code": "too_large", "got": .int(Int64(size)), "allowed": .string("\(limit)")]
        members.append(.init("errors", .array([error])))
        return Value.object(members).json()
    }
}
