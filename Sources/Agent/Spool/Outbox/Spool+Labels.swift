/// What is said of events: a fact each, under the event's id.
extension Spool {
    public enum EventNote: String, Sendable {
        /// What people say that it was.
        case label = "label."
        /// What a network of stations says of it.
        case confirmation = "confirmation."
    }

    /// Notes of a kind, by the ids of the events.
    public mutating func notes(_ kind: EventNote) throws(SpoolError) -> [String: String] {
        var found: [String: String] = [:]
        for name in try facts(beginningWith: kind.rawValue) {
            guard let value = try fact(name) else {
                unread += 1
                continue
            }
            found[String(name.dropFirst(kind.rawValue.count))] = String(decoding: value, as: UTF8.self)
        }
        return found
    }

    /// Of one event; nil: nothing has been said.
    public mutating func note(_ kind: EventNote, of event: String) throws(SpoolError) -> String? {
        let name = kind.rawValue + event
        if let value = try fact(name) { return String(decoding: value, as: UTF8.self) }
        if try facts(beginningWith: name).contains(name) { unread += 1 }
        return nil
    }

    /// Puts a note beside an event; nil takes it away.
    /// - Parameter most: notes of the kind that are kept; of more the oldest go, by the time in their event's id.
    public mutating func setNote(
        _ kind: EventNote, _ note: String?, of event: String, most: Int = 2000
    ) throws(SpoolError) {
        try setFact(kind.rawValue + event, note.map { Array($0.utf8) })
        let names = try facts(beginningWith: kind.rawValue)
        for oldest in names.sorted(by: { $0.suffix(19) < $1.suffix(19) }).dropLast(most) {
            try setFact(oldest, nil)
        }
        try commit()
    }

    /// Labels by the ids of the events.
    public mutating func labels() throws(SpoolError) -> [String: String] { try notes(.label) }

    /// Of one event; nil: nobody has said what it was.
    public mutating func label(of event: String) throws(SpoolError) -> String? { try note(.label, of: event) }

    /// Labels an event; nil takes its label away.
    public mutating func setLabel(_ label: String?, of event: String, most: Int = 2000) throws(SpoolError) {
        try setNote(.label, label, of: event, most: most)
    }
}
