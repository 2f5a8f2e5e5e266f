import Messages
import Platform

/// Messages between the threads that make them and the one that sends them: retained topics in a table of latest
/// values, all others in a bounded queue.
struct OutgoingStore: ~Copyable {
    /// Names a message that was taken out to be sent.
    enum Ticket: Equatable {
        case queued(PublicationQueue.Ticket)
        case retained(RetainedTable.Ticket)
    }

    /// Messages that are not to be sent now, for the keeper.
    struct Holds {
        /// Classes of topics (`TopicClass`), and filters with 3.1.1.
        var names: [String] = []
        var filters: [String] = []
        /// Topic of this class of which one message is wanted.
        var wanted: String?
        /// Classes whose messages the broker could not take for the moment: messages on disk that are newer than this key
        /// are still sent.
        var passing: [String: Int64] = [:]
        /// Rises when something may be offered that could not be before.
        var number: UInt64 = 0
    }

    var queue: PublicationQueue
    var retained: RetainedTable
    var holds = Holds()

    init(options: LinkOptions) {
        queue = PublicationQueue(
            bytes: options.queueBytes, messages: options.queueMessages, keepsEssential: options.keepsEssential)
        queue.trial = options.trial
        retained = RetainedTable(order: options.stateOrder, base: options.base)
    }

    /// True when no live message waits.
    var isEmpty: Bool { queue.count == 0 && retained.waitingCount == 0 }

    mutating func put(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, now: UInt64) {
        if header.retain, retained.set(header, payload) { return }
        queue.append(header, payload, now: now)
    }

    /// Retained topics first: they are few, and say what the rest means.
    mutating func take(
        into output: inout [UInt8], now: UInt64
    ) -> (header: PublicationHeader, ticket: Ticket)? {
        if let (header, ticket) = retained.take(into: &output) { return (header, .retained(ticket)) }
        if let (header, ticket) = queue.take(into: &output, now: now) { return (header, .queued(ticket)) }
        return nil
    }

    mutating func release(_ ticket: Ticket, _ outcome: Settlement.Outcome) {
        if case .queued(let ticket) = ticket { queue.release(ticket, outcome) }
    }

    mutating func putBack(_ ticket: Ticket) {
        switch ticket {
        case .queued(let ticket): queue.putBack(ticket)
        case .retained(let ticket): retained.putBack(ticket)
        }
    }

    /// A connection ended over a message: it waits on disk, or where it was; what is not essential is given up once its
    /// topic is known as the cause.
    mutating func drop(_ ticket: Ticket, isSuspect: Bool) {
        switch ticket {
        case .queued(let ticket):
            if queue.slots[ticket].key > 0 {
                queue.release(ticket, .abandoned)
            } else if isSuspect || queue.slots[ticket].header.priority == .essential {
                queue.setAside(ticket)
            } else {
                queue.drop(ticket)
            }
        case .retained(let ticket): retained.abandon(ticket)
        }
    }

    // MARK: what is refused

    /// False for what is addressed to others, or with an old base: nothing that could be allowed again.
    func isOurs(_ ticket: Ticket, base: String) -> Bool {
        guard case .queued(let ticket) = ticket else { return true }
        return queue.slots[ticket].header.isOurs(base: base)
    }

    /// It is on disk, and not lost when the broker only pretends to have it.
    func isSafe(_ ticket: Ticket) -> Bool {
        guard case .queued(let ticket) = ticket else { return false }
        return queue.slots[ticket].key > 0 && queue.slots[ticket].header.priority == .essential
    }

    /// It has not been refused yet.
    func isFresh(_ ticket: Ticket) -> Bool {
        guard case .queued(let ticket) = ticket else { return true }
        return !queue.slots[ticket].wasRefused
    }

    /// The broker has refused a message.
    /// - Parameters:
    ///   - name: of its class.
    ///   - isHeld: what is essential waits until it may be tried again.
    mutating func refuse(_ ticket: Ticket, of name: String, _ reason: Int, isHeld: Bool) {
        switch ticket {
        case .retained(let ticket): if isHeld { retained.abandon(ticket) }
        case .queued(let index):
            queue.noteRefusal(index)
            if isHeld, Refusals.isPassing(reason) {
                holds.passing[name] = max(holds.passing[name] ?? 0, queue.slots[index].key)
            }
            let isEssential = queue.slots[index].header.priority == .essential
            guard isHeld, isEssential, hold(ticket, isOurs: true, isWanted: true) else {
                return queue.release(index, .refused(reason))
            }
        }
    }

    /// A message that is not to be sent now waits: on disk, or where it is.
    /// - Returns: false when it is gone.
    mutating func hold(_ ticket: Ticket, isOurs: Bool, isWanted: Bool) -> Bool {
        switch ticket {
        case .retained(let ticket): retained.abandon(ticket)
        case .queued(let ticket):
            if isOurs, queue.slots[ticket].key > 0 {
                queue.release(ticket, .held)
            } else if isOurs, isWanted {
                queue.setAside(ticket)
            } else {
                queue.release(ticket, .refused(128))
                return false
            }
        }
        return true
    }

    /// - Parameters:
    ///   - names: of classes.
    ///   - passing: of these, those of which the broker could not take messages for the moment.
    ///   - filters: of topics that are thrown away in silence.
    mutating func setHolds(_ names: [String], passing: [String], filters: [String]) {
        let isLess = holds.names.contains { !names.contains($0) } || holds.filters.contains { !filters.contains($0) }
        (holds.names, holds.filters) = (names, filters)
        holds.passing = holds.passing.filter { passing.contains($0.key) }
        if isLess { offerAgain() }
    }

    /// Asks the keeper for one message of a class.
    mutating func ask(for name: String) {
        holds.wanted = name
        offerAgain()
    }

    mutating func offerAgain() {
        holds.number += 1
        queue.hasNews = true
    }

    /// Whether the keeper may offer a message of this topic now.
    /// - Parameters:
    ///   - key: of the message on disk.
    ///   - isForTrial: it may be the one that is tried alone.
    mutating func mayOffer(_ header: PublicationHeader, key: Int64, isForTrial: Bool = true) -> Bool {
        guard !holds.names.isEmpty || !holds.filters.isEmpty else { return true }
        let name = TopicClass.name(of: header.topic, base: retained.base, isRetained: header.retain)
        if isForTrial, holds.wanted == name {
            holds.wanted = nil
            return true
        }
        let isHeld = holds.names.contains(name) && key <= holds.passing[name] ?? .max
        return !isHeld && !holds.filters.contains { $0.takes(header.topic) }
    }
}

extension PublicationHeader {
    func isOurs(base: String) -> Bool { retain || event != nil || topic.isBelow(base) }
}

/// The store behind a lock that is held for a copy of the bytes only.
final class SharedStore: Sendable {
    private let store: Mutex<OutgoingStore>
    /// Signalled when there is news for the keeper; nil: there is no keeper.
    private let keeperWake: Wake?

    init(options: LinkOptions, keeperWake: Wake? = nil) {
        store = Mutex(OutgoingStore(options: options))
        self.keeperWake = keeperWake
    }

    func withLock<R: Sendable>(_ body: (inout OutgoingStore) -> R) -> R {
        let (result, hasNews) = store.withLock { store -> (R, Bool) in
            let result = body(&store)
            let hasNews = store.queue.hasNews
            store.queue.hasNews = false
            return (result, hasNews)
        }
        if hasNews { keeperWake?.signal() }
        return result
    }
}
