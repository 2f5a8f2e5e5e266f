import Messages

/// Messages that wait for the broker, within a fixed budget of bytes and messages. The most important class leaves
/// first, in order of arrival within a class; when room is short the oldest of the least important class is dropped.
/// Memory only: it survives a broken connection, not the process.
struct PublicationQueue: ~Copyable {
    /// Names a message that was taken out to be sent and keeps its place until it is released or put back.
    typealias Ticket = Int

    private struct Slot {
        var header: PublicationHeader
        var firstPage = PagePool.none
        var byteCount = 0
        /// Arrival (ns).
        var arrived: UInt64 = 0
        /// The slot behind it in its class, or in the list of free slots.
        var next = -1
    }

    private struct Line {
        var head = -1
        var tail = -1
        var count = 0
    }

    private(set) var dropped = DropCounts()
    /// Waiting, without those taken out.
    private(set) var count = 0
    /// Payload of all, waiting or taken out.
    private(set) var bytes = 0

    private let messageLimit: Int
    private var pool: PagePool
    private var slots: [Slot] = []
    private var freeSlot = -1
    private var taken = 0
    private var lines = [Line](repeating: Line(), count: Priority.allCases.count)

    init(bytes: Int, messages: Int) {
        pool = PagePool(bytes: bytes)
        messageLimit = max(1, messages)
    }

    /// Puts a message at the end of its class. False when there is no room for it even after all that is not more
    /// important has been dropped; it is then counted as dropped itself.
    @discardableResult
    mutating func append(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, now: UInt64) -> Bool {
        let pages = PagePool.pages(for: payload.count)
        guard pages <= pool.pageCount else {
            dropped[header.priority] += 1
            return false
        }
        while pool.freeCount < pages || count + taken >= messageLimit {
            guard dropOldest(notAbove: header.priority) else {
                dropped[header.priority] += 1
                return false
            }
        }
        guard let page = pool.store(payload) else { return false }
        let index = takeSlot(header)
        slots[index].firstPage = page
        slots[index].byteCount = payload.count
        slots[index].arrived = now
        slots[index].next = -1
        let line = header.priority.rawValue
        if lines[line].tail < 0 { lines[line].head = index } else { slots[lines[line].tail].next = index }
        lines[line].tail = index
        lines[line].count += 1
        count += 1
        bytes += payload.count
        return true
    }

    /// Takes the next message out to be sent and copies its payload into `output`, which is emptied first. Its bytes
    /// stay here until `release` or `putBack`.
    mutating func take(into output: inout [UInt8]) -> (header: PublicationHeader, ticket: Ticket)? {
        guard let line = lines.firstIndex(where: { $0.head >= 0 }) else { return nil }
        let index = unlinkHead(line)
        taken += 1
        output.removeAll(keepingCapacity: true)
        pool.load(slots[index].firstPage, count: slots[index].byteCount, into: &output)
        return (slots[index].header, index)
    }

    /// The message is with the broker, or given up: its room is free again.
    mutating func release(_ ticket: Ticket) {
        taken -= 1
        free(ticket)
    }

    /// The message was not delivered: it is the next of its class again.
    mutating func putBack(_ ticket: Ticket) {
        taken -= 1
        let line = slots[ticket].header.priority.rawValue
        slots[ticket].next = lines[line].head
        lines[line].head = ticket
        if lines[line].tail < 0 { lines[line].tail = ticket }
        lines[line].count += 1
        count += 1
    }

    /// Counts a message that was taken out and given up.
    mutating func drop(_ ticket: Ticket) {
        dropped[slots[ticket].header.priority] += 1
        release(ticket)
    }

    /// Arrival of the oldest message that waits (ns); nil when none does.
    var oldest: UInt64? {
        var oldest: UInt64?
        for line in lines where line.head >= 0 {
            oldest = min(oldest ?? .max, slots[line.head].arrived)
        }
        return oldest
    }

    private mutating func dropOldest(notAbove priority: Priority) -> Bool {
        for line in stride(from: lines.count - 1, through: priority.rawValue, by: -1) where lines[line].head >= 0 {
            let index = unlinkHead(line)
            dropped[slots[index].header.priority] += 1
            free(index)
            return true
        }
        return false
    }

    private mutating func unlinkHead(_ line: Int) -> Int {
        let index = lines[line].head
        lines[line].head = slots[index].next
        if lines[line].head < 0 { lines[line].tail = -1 }
        lines[line].count -= 1
        count -= 1
        slots[index].next = -1
        return index
    }

    private mutating func takeSlot(_ header: PublicationHeader) -> Int {
        if freeSlot >= 0 {
            let index = freeSlot
            freeSlot = slots[index].next
            slots[index].header = header
            return index
        }
        slots.append(Slot(header: header))
        return slots.count - 1
    }

    private mutating func free(_ index: Int) {
        pool.release(slots[index].firstPage)
        bytes -= slots[index].byteCount
        slots[index].firstPage = PagePool.none
        slots[index].byteCount = 0
        slots[index].next = freeSlot
        freeSlot = index
    }
}
