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

/// Bytes of messages of any length in pages of one size, from one allocation that never grows. A page that is given
/// back is used again first, so that only as much memory is ever touched as was once needed at the same time.
struct PagePool: ~Copyable {
    static let pageBytes = 1024
    /// End of a chain.
    static let none = UInt32.max

    let pageCount: Int
    private(set) var freeCount: Int
    private let base: UnsafeMutableRawPointer
    private let next: UnsafeMutablePointer<UInt32>
    private var freeHead = PagePool.none
    /// Pages from here on were never used.
    private var fresh = 0

    init(bytes: Int) {
        pageCount = max(1, bytes / Self.pageBytes)
        freeCount = pageCount
        base = .allocate(byteCount: pageCount * Self.pageBytes, alignment: 16)
        next = .allocate(capacity: pageCount)
    }

    deinit {
        base.deallocate()
        next.deallocate()
    }

    static func pages(for bytes: Int) -> Int { (bytes + pageBytes - 1) / pageBytes }

    /// Copies bytes into a chain of pages; nil when there are not enough. No bytes need no page.
    mutating func store(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
        guard Self.pages(for: bytes.count) <= freeCount else { return nil }
        var head = Self.none
        var tail = Self.none
        var offset = 0
        while offset < bytes.count {
            let page = takePage()
            let length = min(Self.pageBytes, bytes.count - offset)
            UnsafeMutableRawBufferPointer(start: base + Int(page) * Self.pageBytes, count: length)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]))
            if tail == Self.none { head = page } else { next[Int(tail)] = page }
            tail = page
            offset += length
        }
        return head
    }

    /// Appends the bytes of a chain to an array.
    func load(_ head: UInt32, count: Int, into output: inout [UInt8]) {
        var page = head
        var left = count
        while left > 0, page != Self.none {
            let length = min(Self.pageBytes, left)
            output.append(
                contentsOf: UnsafeRawBufferPointer(start: base + Int(page) * Self.pageBytes, count: length))
            left -= length
            page = next[Int(page)]
        }
    }

    /// Gives the pages of a chain back.
    mutating func release(_ head: UInt32) {
        var page = head
        while page != Self.none {
            let following = next[Int(page)]
            next[Int(page)] = freeHead
            freeHead = page
            freeCount += 1
            page = following
        }
    }

    private mutating func takePage() -> UInt32 {
        let page: UInt32
        if freeHead != Self.none {
            page = freeHead
            freeHead = next[Int(page)]
        } else {
            page = UInt32(fresh)
            fresh += 1
        }
        next[Int(page)] = Self.none
        freeCount -= 1
        return page
    }
}
