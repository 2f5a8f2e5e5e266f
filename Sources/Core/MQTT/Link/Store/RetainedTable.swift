import Messages

/// The latest value of each retained topic: which a late subscriber must find. A newer value replaces one that was
/// not sent yet, and all of them are sent anew, in a fixed order, after each connect.
struct RetainedTable {
    /// Names one value of one topic.
    struct Ticket: Equatable {
        var index: Int
        var version: UInt64
    }

    struct Entry {
        var header: PublicationHeader
        var payload: [UInt8]
        /// 0: the topic has no value yet.
        var version: UInt64 = 0
        /// To be sent.
        var waiting = true
        /// Not sent until it changes or `reopen`: the broker refuses it, or hangs up on it.
        var abandoned = false
        /// A broker may have it.
        var wasSent = false
        /// No state of ours any more: sent once, so that nobody finds the old one.
        var isFarewell = false
    }

    /// Bounds the number of topics.
    static let limit = 256

    private(set) var entries: [Entry] = []
    /// Beginning of our topics, now and before.
    var base = ""
    private var formerBases: [String] = []
    /// Number of the change of the base that the link has yet to take up: nothing but farewells leaves before.
    private var heldFor: UInt64?
    /// Topics that are not emptied now. (A value leaves: it is news, and what the broker retained is asked for already.)
    var held: [String] = []
    /// Values replaced before they were sent.
    private(set) var replaced: UInt64 = 0
    private var waitingEntries = 0
    private var waitingFarewells = 0

    /// Number of values that may leave now.
    var waitingCount: Int {
        let waiting = heldFor == nil ? waitingEntries + waitingFarewells : waitingFarewells
        return held.isEmpty ? waiting : waiting - heldCount
    }

    private var heldCount: Int {
        entries.count { $0.waiting && (heldFor == nil || $0.isFarewell) && isHeld($0) }
    }

    private func isHeld(_ entry: Entry) -> Bool { entry.payload.isEmpty && held.contains(entry.header.topic) }

    /// - Parameters:
    ///   - order: topics that are sent first, in this order.
    ///   - base: what topics of ours begin with; empty where that is not known.
    init(order: [String], base: String = "") {
        self.base = base
        for topic in order {
            entries.append(
                Entry(
                    header: PublicationHeader(topic: topic, qos: 1, retain: true, priority: .essential), payload: [],
                    waiting: false, abandoned: true))
        }
    }

    /// Takes the newest value of a topic. False when there are too many topics.
    mutating func set(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> Bool {
        var header = header
        if !formerBases.isEmpty { header.topic = present(header.topic) }
        guard let index = entries.firstIndex(where: { $0.header.topic == header.topic && !$0.isFarewell }) else {
            guard entries.count < Self.limit else { return takePlace(header, payload) }
            entries.append(Entry(header: header, payload: [UInt8](payload), version: 1))
            recount()
            cancelFarewells { $0 == header.topic }
            return true
        }
        cancelFarewells { $0 == header.topic }
        entries[index].header = header
        entries[index].payload.removeAll(keepingCapacity: true)
        entries[index].payload.append(contentsOf: payload)
        entries[index].version += 1
        entries[index].abandoned = false
        if entries[index].waiting { replaced += 1 } else { waitingEntries += 1 }
        entries[index].waiting = true
        return true
    }

    /// In the place of a topic that was emptied, and of which the broker has been told. False when there is none.
    private mutating func takePlace(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> Bool {
        let place = entries.firstIndex { $0.payload.isEmpty && $0.wasSent && !$0.waiting && !$0.isFarewell }
        guard let place else { return false }
        entries[place] = Entry(header: header, payload: [UInt8](payload), version: entries[place].version + 1)
        recount()
        return true
    }

    /// The next value to send, in order; copies its payload into `output`, which is emptied first.
    mutating func take(into output: inout [UInt8]) -> (header: PublicationHeader, ticket: Ticket)? {
        guard waitingCount > 0,
            let index = entries.firstIndex(where: {
                $0.waiting && (heldFor == nil || $0.isFarewell) && !isHeld($0)
            })
        else { return nil }
        entries[index].waiting = false
        entries[index].wasSent = true
        count(index, -1)
        output.removeAll(keepingCapacity: true)
        output.append(contentsOf: entries[index].payload)
        return (entries[index].header, Ticket(index: index, version: entries[index].version))
    }

    /// After a connect: everything is to be sent again, except what broke connections.
    /// - Parameter isKnown: this broker has had all that was sent. What was emptied there stays away, outside of our own
    ///   topics: Home Assistant takes it for a device that contradicts the one of now. (Ours go again: a broker that was
    ///   killed may have an alert back that it had forgotten.)
    mutating func sendAllAgain(isKnown: Bool = false) {
        for index in entries.indices where !entries[index].abandoned && !entries[index].isFarewell {
            let entry = entries[index]
            let isOurs = !base.isEmpty && entry.header.topic.isBelow(base)
            if !isKnown || isOurs || !entry.payload.isEmpty { entries[index].waiting = true }
        }
        recount()
    }

    /// The value was taken but not handed over: it waits again unless a newer one does already, or it was given up
    /// meanwhile; it is on its way more than once when a connection broke before it was acknowledged.
    mutating func putBack(_ ticket: Ticket) {
        guard !entries[ticket.index].waiting, !entries[ticket.index].abandoned else { return }
        entries[ticket.index].waiting = true
        count(ticket.index, 1)
    }

    /// Holds this value back until the topic gets another, or `reopen`.
    mutating func abandon(_ ticket: Ticket) {
        guard entries[ticket.index].version == ticket.version else { return }
        if entries[ticket.index].waiting { count(ticket.index, -1) }
        entries[ticket.index].waiting = false
        entries[ticket.index].abandoned = true
    }

    /// Values that were given up are to be sent once more. False when there are none of these topics.
    mutating func reopen(onlyOne: Bool = false, where isWanted: (String) -> Bool) -> Bool {
        var isAny = false
        for index in entries.indices where entries[index].abandoned && entries[index].version > 0 {
            guard !entries[index].isFarewell, isWanted(entries[index].header.topic) else { continue }
            (entries[index].abandoned, entries[index].waiting, isAny) = (false, true, true)
            if onlyOne { break }
        }
        if isAny { recount() }
        return isAny
    }

    /// Payload of a topic; nil: none yet.
    func value(of topic: String) -> [UInt8]? {
        entries.first { $0.header.topic == topic && !$0.isFarewell && $0.version > 0 }?.payload
    }

    /// The value of a topic is to be sent once more; a topic that has none is to be emptied.
    mutating func sayAgain(_ topic: String) {
        if let index = entries.firstIndex(where: { $0.header.topic == topic && !$0.isFarewell && $0.version > 0 }) {
            guard !entries[index].waiting, !entries[index].abandoned else { return }
            entries[index].waiting = true
            count(index, 1)
        } else {
            let header = PublicationHeader(topic: topic, qos: 1, retain: true, contentType: .text, priority: .essential)
            _ = set(header, UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    private mutating func count(_ index: Int, _ change: Int) {
        if entries[index].isFarewell { waitingFarewells += change } else { waitingEntries += change }
    }

    private mutating func recount() {
        waitingFarewells = entries.count { $0.waiting && $0.isFarewell }
        waitingEntries = entries.count { $0.waiting && !$0.isFarewell }
    }
}

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

    /// Forgets the farewells that were sent, or all. Only while nothing is on its way: what comes after has another place then.
    mutating func forgetFarewells(all: Bool) {
        entries.removeAll { $0.isFarewell && (all || !$0.waiting) }
        recount()
    }

    private mutating func cancelFarewells(_ matches: (String) -> Bool) {
        guard entries.contains(where: { $0.isFarewell }) else { return }
        for index in entries.indices where entries[index].isFarewell && matches(entries[index].header.topic) {
            (entries[index].waiting, entries[index].abandoned) = (false, true)
        }
        recount()
    }

    /// A topic below a former base, below the present one; any other as it is.
    private func present(_ topic: String) -> String {
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
