import Messages

/// What a command asks of that which the station keeps.
public enum StoredQuery: Sendable, Equatable {
    /// Ends of events whose onset lies between two times (ns of UTC), the newest first.
    /// - after: the cursor of the reply before; 0: from the newest.
    case events(
        ClosedRange<Int64>, minimum: Double?, likely: String?, labelled: Bool = false, limit: Int, after: Int64)
    /// One event; its waveform on a topic; nil: without.
    case event(String, topic: String?)
    /// Levels between two times, in steps of seconds.
    case history(ClosedRange<Int64>, step: Int, cbor: Bool)
    /// What an event was, by its id; nil: it has no label any more.
    case label(String, String?)
    /// What a network of stations says of an event.
    case confirm(EventConfirmation)
    /// Messages of a run of the agent, by the numbers of their stream, below a topic.
    case resend(stream: String, boot: String, ClosedRange<Int>)

    /// It puts messages on the disk, from which they are sent.
    public var sends: Bool {
        switch self {
        case .events, .history, .label, .confirm: false
        case .event(_, let topic): topic != nil
        case .resend: true
        }
    }
}

extension CommandMembers {
    /// What is wrong with `from` and `to`, both of which may be missing.
    func orderProblem() -> CodedError? {
        guard let from = time("from"), let to = time("to"), to < from else { return nil }
        return CodedError("/to", .crossField, "`to` must not be earlier than `from`.")
    }
}
