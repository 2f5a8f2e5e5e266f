/// Topics whose messages a broker refuses, or hangs up on, and when one of them is tried again. Pure.
///
/// The memory is longer than a connection: what was refused comes last, one message alone, after pauses that are each
/// twice the one before. A topic that is merely suspected, because it was on its way when connections broke, waits for no
/// more than its turn.
struct Refusals: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        /// Name of the class (`TopicClass`).
        var name: String
        /// The message with which it happened last.
        var topic: String
        /// Reason that the broker gave; nil: none, connections ended over it.
        var reason: Int?
        /// It hangs up as well.
        var breaks = false
        /// Trials that failed.
        var strikes = 0
        /// Not tried before (ns).
        var until: UInt64
        /// When a message to try was looked for last (ns).
        var lookedAt: UInt64?

        /// Trials that end with the connection before it counts as the cause.
        var patience = Refusals.patience

        /// It may be innocent still.
        var isSuspect: Bool { reason == nil && strikes < patience }

        /// The broker could not deliver this time: new messages are still sent, and refused ones are retried.
        var isPassing: Bool { reason.map(Refusals.isPassing) == true && !breaks }
    }

    /// Trials that end with the connection before a state counts as the cause; and a topic of messages that are not said
    /// again by themselves, or `online`: a bad line breaks connections too.
    static let patience = 3
    static let messagePatience = 10
    /// The first pause after a refusal, and after a connection was lost over it; and the longest (ns).
    static let first: UInt64 = 5_000_000_000
    static let firstOfBreaks: UInt64 = 10_000_000_000
    static let longest: UInt64 = 3_600_000_000_000
    /// The longest pause where the broker could not, this time (ns).
    static let longestOfPassing: UInt64 = 40_000_000_000
    /// A message for a trial is looked for on disk this often at most (ns).
    static let lookAgain: UInt64 = 10_000_000_000
    /// Topics that are remembered.
    static let limit = 32

    private(set) var entries: [Entry] = []

    /// 131, "implementation specific error": not a permission error. RabbitMQ returns it when a queue of somebody who is to have
    /// the message is on a node that is away; all others get it.
    static func isPassing(_ reason: Int) -> Bool { reason == 131 }

    func entry(_ name: String) -> Entry? { entries.first { $0.name == name } }

    /// The broker has said no.
    /// - Parameter isTrial: it was tried again; otherwise those that were on their way together count as one.
    mutating func refused(_ name: String, topic: String, reason: Int, isTrial: Bool, now: UInt64) {
        let wasClosed = entry(name).map { !$0.isSuspect } == true
        guard let index = index(name, topic, now) else { return }
        entries[index].topic = topic
        entries[index].reason = reason
        if isTrial || !wasClosed { close(index, now) }
    }

    /// The connection ended right after the broker had said no.
    mutating func hungUp(_ name: String, topic: String, now: UInt64) {
        guard let index = index(name, topic, now), !entries[index].breaks else { return }
        entries[index].breaks = true
        entries[index].strikes = max(0, entries[index].strikes - 1)
        close(index, now)
    }

    /// A message of it was on its way, or was acknowledged last, when a connection broke.
    /// - Parameter isPatient: it is not said again by itself, or is what comes first in each connection, so that a bad line
    ///   breaks over it more often than over others.
    mutating func suspect(_ name: String, topic: String, isPatient: Bool, now: UInt64) {
        let isNew = entry(name) == nil
        guard let index = index(name, topic, now), isNew, isPatient else { return }
        entries[index].patience = Self.messagePatience
    }

    /// The connection ended while nothing else was on its way.
    /// - Returns: true when it counts as the cause from now on.
    mutating func broke(_ name: String, topic: String, now: UInt64) -> Bool {
        guard let index = index(name, topic, now) else { return false }
        let wasSuspect = entries[index].isSuspect
        entries[index].topic = topic
        entries[index].breaks = true
        close(index, now)
        return wasSuspect && !entries[index].isSuspect
    }

    /// The broker took a message of a topic of which it could not take others.
    mutating func hurry(_ name: String, now: UInt64) {
        guard let index = entries.firstIndex(where: { $0.name == name }) else { return }
        entries[index].until = min(entries[index].until, now)
    }

    /// A message was accepted, or no message is left.
    mutating func forget(_ name: String) { entries.removeAll { $0.name == name } }

    /// The one to try next: a suspect first. One that had no message a moment ago holds up no other.
    func due(_ now: UInt64) -> Entry? {
        entries.filter { entry in
            entry.until <= now && (entry.isSuspect || entry.lookedAt.map { now >= $0 + Self.lookAgain } ?? true)
        }.min {
            ($0.isSuspect ? 0 : 1, $0.strikes) < ($1.isSuspect ? 0 : 1, $1.strikes)
        }
    }

    /// When the next may be tried (ns).
    func deadline(after now: UInt64) -> UInt64? { entries.lazy.map(\.until).filter { $0 > now }.min() }

    /// - Parameter name: a message of this was looked for.
    mutating func looked(for name: String, now: UInt64) {
        if let index = entries.firstIndex(where: { $0.name == name }) { entries[index].lookedAt = now }
    }

    /// A new connection may have other rights; but what broke the one before has its pause.
    mutating func connected(now: UInt64) {
        for index in entries.indices {
            if !entries[index].breaks { entries[index].until = min(entries[index].until, now) }
            entries[index].lookedAt = nil
        }
    }

    /// Other settings, or another broker: all may be tried at once.
    mutating func retryAll(now: UInt64) {
        for index in entries.indices { (entries[index].until, entries[index].lookedAt) = (now, nil) }
    }

    private mutating func index(_ name: String, _ topic: String, _ now: UInt64) -> Int? {
        if let index = entries.firstIndex(where: { $0.name == name }) { return index }
        if entries.count >= Self.limit {
            // Suspects are found again.
            guard let index = entries.firstIndex(where: \.isSuspect) else { return nil }
            entries.remove(at: index)
        }
        entries.append(Entry(name: name, topic: topic, until: now))
        return entries.count - 1
    }

    private mutating func close(_ index: Int, _ now: UInt64) {
        entries[index].strikes = min(entries[index].strikes + 1, 32)
        entries[index].lookedAt = nil
        let entry = entries[index]
        guard !entry.isSuspect else { return entries[index].until = now }
        let step = entry.strikes - (entry.reason == nil ? entry.patience : 1)
        let start = entry.breaks ? Self.firstOfBreaks : Self.first
        let longest = entry.isPassing ? Self.longestOfPassing : Self.longest
        entries[index].until = now + min(start << UInt64(max(0, min(step, 12))), longest)
    }
}

/// Topics that a broker allows or denies together, so that one refusal says enough of all of them. Pure.
enum TopicClass {
    /// Below the base of our topics: families without an end of members.
    private static let families = ["data/waveform", "data/history", "state/alert", "event/log", "res"]

    /// - Parameter base: what our own topics begin with; empty: each topic stands for itself.
    /// - Returns: a topic, or a filter that ends with `/#`.
    static func name(of topic: String, base: String, isRetained: Bool) -> String {
        guard !base.isEmpty else { return topic }
        if topic.isBelow(base) {
            for family in families {
                let parent = "\(base)/\(family)"
                if topic.isBelow(parent) { return "\(parent)/#" }
            }
        } else if isRetained, let end = topic.utf8.firstIndex(of: UInt8(ascii: "/")) {
            // Home Assistant's.
            return "\(topic[..<end])/#"
        }
        return topic
    }
}

extension String {
    /// Whether this filter takes a topic: one without wildcards, or with `/+` or `/#` at its end alone.
    func takes(_ topic: String) -> Bool {
        guard let last = utf8.last, last == UInt8(ascii: "#") || last == UInt8(ascii: "+") else { return self == topic }
        let parent = String(dropLast(2))
        guard topic.isBelow(parent) else { return false }
        return last == UInt8(ascii: "#") || !topic.utf8.dropFirst(parent.utf8.count + 1).contains(UInt8(ascii: "/"))
    }
}

/// Distinguishes a broker that hangs up on a message from a bad line. Pure.
///
/// A broker that takes no message as large as this, or none on this topic, may close the connection without a word:
/// MQTT 3.1.1 has no other way, and some have a limit that they do not announce. It may even have acknowledged the message
/// before. So does a bad line. After two short connections in a row that the peer closed while something was on its way,
/// messages go one at a time: then only the one that is on its way, or the one that was acknowledged last (3.1.1), can be
/// the cause. Both are suspects and are tried alone (`Refusals`). Nobody is suspected for connections that never get as
/// far as an acknowledgement.
struct Suspicion: Sendable, Equatable {
    /// Such connections after which messages go one at a time.
    static let fruitlessLimit = 2
    /// A connection that was longer than this, and not without acknowledgement, counts as a good one (ns).
    static let youth: UInt64 = 10_000_000_000
    /// Time after an acknowledgement within which a broker hangs up over that message (ns).
    static let quiet: UInt64 = 250_000_000
    /// After so many acknowledgements in a row the line counts as good, even if more is always waiting.
    static let well = 1000

    /// No more than one message may be on its way.
    private(set) var oneAtATime = false
    private var fruitless = 0
    private var acknowledgements = 0

    /// A connection broke.
    /// - Parameters:
    ///   - byPeer: the other side, or the line, has ended it.
    ///   - isBusy: something was on its way or just acknowledged.
    ///   - age: how long it lasted (ns).
    /// - Returns: true when what was on its way, or acknowledged last, is suspect.
    mutating func broke(byPeer: Bool, isBusy: Bool, age: UInt64) -> Bool {
        let acknowledged = acknowledgements > 0
        acknowledgements = 0
        guard byPeer, isBusy else { return false }
        guard !oneAtATime else { return acknowledged }
        fruitless = acknowledged && age >= Self.youth ? 0 : fruitless + 1
        if fruitless >= Self.fruitlessLimit { (oneAtATime, fruitless) = (true, 0) }
        return false
    }

    mutating func acknowledged() {
        acknowledgements += 1
        if oneAtATime, acknowledgements >= Self.well { rested() }
    }

    /// All that there was has been acknowledged, and a while has passed.
    mutating func rested() { (oneAtATime, fruitless) = (false, 0) }
}
