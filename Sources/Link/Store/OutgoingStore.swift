import Messages
import Threads

/// What stands between the threads that make messages and the one that sends them: retained topics in a table of
/// latest values, all others in a bounded queue.
struct OutgoingStore: ~Copyable {
    /// Names a message that was taken out to be sent.
    enum Ticket: Equatable {
        case queued(PublicationQueue.Ticket)
        case retained(RetainedTable.Ticket)
    }

    var queue: PublicationQueue
    var retained: RetainedTable

    init(options: LinkOptions) {
        queue = PublicationQueue(
            bytes: options.queueBytes, messages: options.queueMessages, keepsEssential: options.keepsEssential)
        queue.trial = options.trial
        retained = RetainedTable(order: options.stateOrder, base: options.base)
    }

    /// Nothing live waits.
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

    /// Gives a message up for good, counted.
    mutating func drop(_ ticket: Ticket) {
        switch ticket {
        case .queued(let ticket): queue.drop(ticket)
        case .retained(let ticket): retained.abandon(ticket)
        }
    }
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
