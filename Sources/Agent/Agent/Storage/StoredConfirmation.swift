import Messages
import Values

/// A network's confirmation of an event, kept beside it: it may come when the event's end has been written.
extension EventConfirmation {
    var note: String { "\(isConfirmed) \(networkEvent)" }

    /// An event's object with such a note in it, whatever it said itself.
    static func note(_ note: String?, in event: Value) -> Value {
        guard let note, let space = note.firstIndex(of: " "), case .object(var members) = event else { return event }
        members.removeAll { $0.key == "confirmed" || $0.key == "network_event" }
        members.append(.init("confirmed", .bool(note[..<space] == "true")))
        members.append(.init("network_event", .string(String(note[note.index(after: space)...]))))
        return .object(members)
    }
}
