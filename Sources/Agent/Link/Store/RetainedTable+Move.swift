import Messages

/// All topics get another beginning: the values move, and what a broker has of the old ones is emptied.
extension RetainedTable {
    /// Former bases that are remembered: values that are still published below them belong to the present one.
    private static let memory = 8

    /// Values go to the same topics below the new base; what may be with a broker gets a farewell. Nothing else leaves
    /// until `release`, so that nothing goes to a broker that it is not for.
    /// - Parameters:
    ///   - presence: a topic that is told otherwise.
    ///   - change: number of the change.
    mutating func move(from old: String, to new: String, presence: String, change: UInt64) {
        guard old != new, !old.isEmpty, !new.isEmpty else {
            // The number counts: what is held waits for the last change.
            if heldFor != nil { heldFor = change }
            return
        }
        heldFor = change
        base = new
        formerBases.removeAll { $0 == new || $0 == old }
        formerBases.append(old)
        if formerBases.count > Self.memory { formerBases.removeFirst() }
        cancelFarewells { $0.isBelow(new) }
        for index in entries.indices where !entries[index].isFarewell && entries[index].header.topic.isBelow(old) {
            let topic = entries[index].header.topic
            if entries[index].wasSent, topic != presence { addFarewell(to: topic, []) }
            entries[index].header.topic = new + topic.withoutBase(old)
            entries[index].version += entries[index].version > 0 ? 1 : 0
            entries[index].wasSent = false
            entries[index].waiting = entries[index].version > 0
            entries[index].abandoned = entries[index].version == 0
        }
        recount()
    }

    /// The link has taken this change up.
    mutating func release(change: UInt64) { if heldFor == change { heldFor = nil } }

    /// To be sent once, after everything else.
    mutating func addFarewell(to topic: String, _ payload: [UInt8]) {
        cancelFarewells { $0 == topic }
        let header = PublicationHeader(topic: topic, qos: 1, retain: true, contentType: .text, priority: .essential)
        entries.append(Entry(header: header, payload: payload, isFarewell: true))
        recount()
    }

    /// Those that were sent, or all. Only while nothing is on its way: what comes after has another place then.
    mutating func forgetFarewells(all: Bool) {
        entries.removeAll { $0.isFarewell && (all || !$0.waiting) }
        recount()
    }

    mutating func cancelFarewells(_ matches: (String) -> Bool) {
        guard entries.contains(where: { $0.isFarewell }) else { return }
        for index in entries.indices where entries[index].isFarewell && matches(entries[index].header.topic) {
            (entries[index].waiting, entries[index].abandoned) = (false, true)
        }
        recount()
    }

    /// A topic below a former base, below the present one; any other as it is.
    func present(_ topic: String) -> String {
        let isPresent = topic.isBelow(base)
        for former in formerBases where topic.isBelow(former) && (!isPresent || former.isBelow(base)) {
            return base + topic.withoutBase(former)
        }
        return topic
    }
}

extension String {
    /// True for topics below this base, and for all when it is empty.
    func isBelow(_ base: String) -> Bool {
        guard !base.isEmpty else { return true }
        return utf8.count > base.utf8.count && utf8.starts(with: base.utf8)
            && utf8[utf8.index(utf8.startIndex, offsetBy: base.utf8.count)] == UInt8(ascii: "/")
    }

    fileprivate func withoutBase(_ base: String) -> String { String(Substring(utf8.dropFirst(base.utf8.count))) }
}
