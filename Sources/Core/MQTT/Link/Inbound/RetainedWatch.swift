import Messages

/// Notices that somebody else has written a retained topic of ours, and when we say our own word again
/// (``RetainedCorrection``). Pure.
///
/// So the topics stay subscribed to. Presence alone is answered without growing pauses, so that a station that is there
/// never counts as gone.
struct RetainedWatch: Sendable, Equatable {
    /// Answers on one topic that make a finding.
    static let enough: UInt64 = 3
    /// Topics that are remembered.
    static let limit = 64

    private struct Entry: Sendable, Equatable {
        var topic: String
        var isPresence: Bool
        var correction = RetainedCorrection()
        var count: UInt64 = 0
    }

    private var entries: [Entry] = []

    /// When something is due (ns).
    var deadline: UInt64? { entries.reduce(nil) { earliest($0, $1.correction.due) } }

    /// Topics that others overwrite again and again; nil: none.
    var finding: LinkStatistics.Overwritten? {
        let found = entries.filter { $0.count >= Self.enough }
        guard !found.isEmpty else { return nil }
        return .init(topics: found.map(\.topic), count: found.reduce(0) { $0 + $1.count })
    }

    /// A value has come on a topic of ours.
    /// - Parameter isOurs: it is the one that we say.
    mutating func heard(_ topic: String, isOurs: Bool, isPresence: Bool, now: UInt64) {
        guard let index = entries.firstIndex(where: { $0.topic == topic }) else {
            guard !isOurs, entries.count < Self.limit else { return }
            var entry = Entry(topic: topic, isPresence: isPresence)
            entry.correction.heard(isOwn: false, now: now)
            entries.append(entry)
            return
        }
        entries[index].correction.heard(isOwn: isOurs, now: now)
    }

    /// The topics on which our word is to be said now.
    mutating func takeDue(now: UInt64) -> [String] {
        var topics: [String] = []
        for index in entries.indices
        where entries[index].correction.takeDue(now: now, isPresence: entries[index].isPresence) {
            topics.append(entries[index].topic)
            entries[index].count += 1
        }
        return topics
    }

    /// Forgets what has been quiet for long.
    mutating func look(now: UInt64) {
        guard !entries.isEmpty else { return }
        entries.removeAll { $0.correction.isOver(now: now) }
    }

    /// A connection is over: in the next one everything is said anew.
    mutating func disconnected() { for index in entries.indices { entries[index].correction.disconnected() } }
}
