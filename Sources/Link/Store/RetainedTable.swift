import Messages

/// The latest value of each retained topic: what a late subscriber shall find. A newer value replaces one that was
/// not sent yet, and all of them are sent anew, in a fixed order, after each connect.
struct RetainedTable {
    /// Names one value of one topic.
    struct Ticket: Equatable {
        var index: Int
        var version: UInt64
    }

    private struct Entry {
        var header: PublicationHeader
        var payload: [UInt8]
        /// 0: the topic has no value yet.
        var version: UInt64 = 0
        /// To be sent.
        var waiting = true
        /// Given up until it changes, because connections broke over it.
        var abandoned = false
    }

    /// A guard against topics without end.
    static let limit = 256

    private var entries: [Entry] = []
    /// Values replaced before they were sent.
    private(set) var replaced: UInt64 = 0
    private(set) var waitingCount = 0

    /// - Parameter order: topics that are sent first, in this order.
    init(order: [String]) {
        for topic in order {
            entries.append(
                Entry(
                    header: PublicationHeader(topic: topic, qos: 1, retain: true, priority: .essential), payload: [],
                    waiting: false, abandoned: true))
        }
    }

    /// Takes the newest value of a topic. False when there are too many topics.
    mutating func set(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> Bool {
        guard let index = entries.firstIndex(where: { $0.header.topic == header.topic }) else {
            guard entries.count < Self.limit else { return false }
            entries.append(Entry(header: header, payload: [UInt8](payload), version: 1))
            waitingCount += 1
            return true
        }
        entries[index].header = header
        entries[index].payload.removeAll(keepingCapacity: true)
        entries[index].payload.append(contentsOf: payload)
        entries[index].version += 1
        entries[index].abandoned = false
        if entries[index].waiting { replaced += 1 } else { waitingCount += 1 }
        entries[index].waiting = true
        return true
    }

    /// The next value to send, in order; copies its payload into `output`, which is emptied first.
    mutating func take(into output: inout [UInt8]) -> (header: PublicationHeader, ticket: Ticket)? {
        guard waitingCount > 0, let index = entries.firstIndex(where: { $0.waiting }) else { return nil }
        entries[index].waiting = false
        waitingCount -= 1
        output.removeAll(keepingCapacity: true)
        output.append(contentsOf: entries[index].payload)
        return (entries[index].header, Ticket(index: index, version: entries[index].version))
    }

    /// After a connect: everything is to be sent again, except what broke connections.
    mutating func sendAllAgain() {
        for index in entries.indices where !entries[index].abandoned {
            entries[index].waiting = true
        }
        waitingCount = entries.count { $0.waiting }
    }

    /// The value was taken but not handed over: it waits again unless a newer one does already, or it was given up
    /// meanwhile; it is on its way more than once when a connection broke before it was acknowledged.
    mutating func putBack(_ ticket: Ticket) {
        guard !entries[ticket.index].waiting, !entries[ticket.index].abandoned else { return }
        entries[ticket.index].waiting = true
        waitingCount += 1
    }

    /// Gives this value up until the topic gets another.
    mutating func abandon(_ ticket: Ticket) {
        guard entries[ticket.index].version == ticket.version else { return }
        if entries[ticket.index].waiting { waitingCount -= 1 }
        entries[ticket.index].waiting = false
        entries[ticket.index].abandoned = true
    }

    /// A value is given up.
    var hasAbandoned: Bool { entries.contains { $0.abandoned && $0.version > 0 } }

    /// All values that were given up are to be sent once more. False when there are none.
    mutating func pardon() -> Bool {
        guard hasAbandoned else { return false }
        for index in entries.indices where entries[index].abandoned && entries[index].version > 0 {
            entries[index].abandoned = false
            entries[index].waiting = true
        }
        waitingCount = entries.count { $0.waiting }
        return true
    }
}
