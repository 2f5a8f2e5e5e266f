import Messages
import Settings
import Spool
import Values

/// Rewrites messages that were stored under the host's name, before the station had one, to the station's name: nobody
/// knows it by the other, and a broker with accounts refuses that. Pure.
///
/// Topic and envelope change, and with them the name of the event. miniSEED records stay as they were recorded.
struct FormerName {
    /// The station's id without settings.
    let former: String
    private let topics: Topics

    /// Nil: the station is called so.
    /// - Parameter host: the id that follows from the host's name.
    init?(host: String, topics: Topics) {
        guard host != topics.id else { return nil }
        (former, self.topics) = (host, topics)
    }

    /// A message with the present name.
    enum Renamed {
        /// It is none of the former name.
        case unchanged
        case changed(StoredMessage)
        /// It cannot be written anew.
        case impossible
    }

    func rename(_ message: StoredMessage) -> Renamed {
        guard let topic = renamed(topic: message.header.topic) else { return .unchanged }
        var changed = message
        changed.header.topic = topic
        if let event = message.header.event { changed.header.event?.id = renamed(event: event.id) }
        switch message.header.contentType {
        case .json:
            guard let payload = renamed(payload: message.payload) else { return .impossible }
            changed.payload = payload
        case .cbor: return .impossible
        case .mseed, .text: break
        }
        return .changed(changed)
    }

    /// The payload of a message with the present name; nil where there is nothing to change.
    func renamed(_ message: StoredMessage) -> [UInt8]? {
        guard case .changed(let present) = rename(message) else { return nil }
        return present.payload
    }

    /// The bytes of an object with the present name; nil: it is none.
    private func renamed(payload: [UInt8]) -> [UInt8]? {
        guard case .object(let members)? = try? JSONReader.read(payload) else { return nil }
        return Value.object(members.map { Value.Member($0.key, renamed($0.key, $0.value)) }).json()
    }

    private func renamed(_ key: String, _ value: Value) -> Value {
        switch (key, value) {
        case ("station", .string(former)): return .string(topics.id)
        case ("event_id", .string(let id)): return .string(renamed(event: id))
        case ("waveform", .object(let members)):
            return .object(
                members.map { member in
                    guard member.key == "topic", case .string(let topic) = member.value else { return member }
                    return Value.Member("topic", .string(renamed(topic: topic) ?? topic))
                })
        default: return value
        }
    }

    private func renamed(event id: String) -> String {
        let beginning = "\(former)-"
        guard id.utf8.starts(with: beginning.utf8), id.utf8.count == beginning.utf8.count + Self.stamp else {
            return id
        }
        return topics.id + String(decoding: id.utf8.dropFirst(former.utf8.count), as: UTF8.self)
    }

    /// Bytes of the time in the name of an event.
    private static let stamp = 19

    /// Nil: the topic is none of a station with the former name.
    private func renamed(topic: String) -> String? {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        let kinds = ["state", "event", "data", "res"]
        guard
            let index = levels.indices.dropLast().first(where: {
                $0 > 0 && levels[$0] == former && kinds.contains(String(levels[$0 + 1]))
            })
        else { return nil }
        var rest = levels[(index + 1)...].map(String.init)
        // The last level of a waveform's topic is the event.
        if let last = rest.last { rest[rest.count - 1] = renamed(event: last) }
        return ([topics.base] + rest).joined(separator: "/")
    }
}
