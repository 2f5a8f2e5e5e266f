import Messages

/// Messages that wait for the broker, within a fixed budget of bytes and messages. The most important class leaves
/// first, in order of arrival within a class; when room is short the oldest of the least important class is dropped.
/// Memory only: it survives a broken connection, not the process. With `keepsEssential` essential messages are offered
/// to a keeper, who writes them to disk before they leave.
struct PublicationQueue: ~Copyable {
    /// Names a message that was taken out to be sent and keeps its place until it is released or put back.
    typealias Ticket = Int

    /// Where a message is on its way to the disk.
    enum Keeping: UInt8 {
        /// It need not get there, is there, or cannot get there.
        case none
        /// It waits for the keeper.
        case wanted
        /// The keeper has it in hand.
        case asked
    }

    struct Slot {
        var header: PublicationHeader
        var firstPage = PagePool.none
        var byteCount = 0
        /// Arrival (ns).
        var arrived: UInt64 = 0
        /// The slot behind it in its class, or in the list of free slots.
        var next = -1
        var isTaken = false
        /// From disk: sent after everything else.
        var isBackfill = false
        /// Its topic is refused for now.
        var isAside = false
        /// The broker has refused it before.
        var wasRefused = false
        var keeping = Keeping.none
        /// Number on disk; 0: not there.
        var key: Int64 = 0
        /// Changes when the slot is used anew, so that an old `KeepTicket` finds nothing.
        var generation: UInt32 = 0
        /// Neighbours in the list of those that wait for the keeper.
        var previousUnkept = -1
        var nextUnkept = -1
        /// Outcome of a message that the keeper still has in hand, or is still to get: the slot exists only to report
        /// it.
        var fate: Settlement.Outcome?
    }

    struct Line {
        var head = -1
        var tail = -1
        var count = 0
    }

    /// An essential message never waits longer than this for the keeper (ns).
    static let patience: UInt64 = 200_000_000
    /// The same while older ones come by way of the disk, and would be overtaken.
    static let overflowPatience: UInt64 = 5_000_000_000
    /// Back-fill that waits: messages, and bytes of payload when there is more than one.
    static let backfillMessages = 32
    static let backfillBytes = 256 << 10

    private(set) var dropped = ClassCounts()
    /// Waiting live messages, without those taken out.
    private(set) var count = 0
    /// Payload of all, waiting or taken out, live or back-fill.
    private(set) var bytes = 0
    /// Payload of the back-fill that waits.
    private var backfillWaitingBytes = 0
    /// True when there is a new message for the keeper.
    var hasNews = false
    /// The broker's acknowledgement may mean nothing: messages leave as late as in an overflow, if they are not kept.
    var mustBeKept = false
    /// See `LinkOptions.trial`.
    var trial = 0
    /// See `Link.setOverflow`.
    private(set) var isOverflowing = false
    /// The keeper was turned away with back-fill and wants to hear when there is room.
    private(set) var backfillWanted = false
    /// Kept messages that lost their place in memory.
    private(set) var displaced: UInt64 = 0
    private var settled: [Settlement] = []

    private let keepsEssential: Bool
    private let messageLimit: Int
    private(set) var pool: PagePool
    private(set) var slots: [Slot] = []
    private var freeSlot = -1
    private var taken = 0
    /// One for each class, one for back-fill, and the last for what is refused for now and not on disk.
    private(set) var lines = [Line](repeating: Line(), count: Priority.allCases.count + 2)
    private(set) var unkept = Line()

    /// Appends the keys whose fate has become known since the last call.
    mutating func takeSettled(into output: inout [Settlement]) {
        output.append(contentsOf: settled)
        settled.removeAll(keepingCapacity: true)
    }

    /// The broker has refused a message that was taken out.
    mutating func noteRefusal(_ index: Int) { slots[index].wasRefused = true }

    static var backfillLine: Int { Priority.allCases.count }
    static var asideLine: Int { backfillLine + 1 }

    init(bytes: Int, messages: Int, keepsEssential: Bool = false) {
        pool = PagePool(bytes: bytes)
        messageLimit = max(1, messages)
        self.keepsEssential = keepsEssential
        if keepsEssential { settled.reserveCapacity(64) }
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
        while !hasRoom(pages) {
            // First what was delivered, and waits for the keeper alone.
            if pages > pool.freeCount, forgetDelivered() { continue }
            guard dropOldest(notAbove: header.priority) else {
                dropped[header.priority] += 1
                return false
            }
        }
        guard let index = insert(header, payload, now: now, line: header.priority.rawValue) else { return false }
        if keepsEssential, header.priority == .essential, !header.retain {
            slots[index].keeping = .wanted
            linkUnkept(index)
            hasNews = true
        }
        return true
    }

    func hasRoom(_ pages: Int) -> Bool { pages <= pool.freeCount && places < messageLimit }

    private var places: Int { count + taken + lines[Self.backfillLine].count + asideCount }

    /// Messages that were set aside.
    var asideCount: Int { lines[Self.asideLine].count }

    /// Less than three quarters of the messages are there that may be.
    private var hasMessageReserve: Bool { places * 4 < messageLimit * 3 }

    /// Fills a slot and puts it at the end of a line; there has to be room.
    mutating func insert(
        _ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, now: UInt64, line: Int
    ) -> Int? {
        guard let page = pool.store(payload) else { return nil }
        let index = takeSlot(header)
        slots[index].firstPage = page
        slots[index].byteCount = payload.count
        slots[index].arrived = now
        slots[index].isBackfill = line == Self.backfillLine
        bytes += payload.count
        link(index, line)
        return index
    }

    /// Puts a slot at the end of a line.
    private mutating func link(_ index: Int, _ line: Int) {
        if lines[line].tail < 0 { lines[line].head = index } else { slots[lines[line].tail].next = index }
        lines[line].tail = index
        countWaiting(index, line, 1)
    }

    /// Takes the next live message out to be sent and copies its payload into `output`, which is emptied first. Its
    /// bytes stay here until `release` or `putBack`. An essential one that the keeper must have first lets the other
    /// classes pass. The expiry has become shorter by the time that the message has waited.
    mutating func take(into output: inout [UInt8], now: UInt64) -> (header: PublicationHeader, ticket: Ticket)? {
        for line in 0..<Self.backfillLine where lines[line].head >= 0 {
            if let time = waitsForKeeper(until: lines[line].head), now < time { continue }
            return takeHead(line, into: &output, now: now)
        }
        return nil
    }

    private mutating func takeHead(
        _ line: Int, into output: inout [UInt8], now: UInt64
    ) -> (header: PublicationHeader, ticket: Ticket) {
        let index = unlinkHead(line)
        taken += 1
        slots[index].isTaken = true
        load(index, into: &output)
        var header = slots[index].header
        if let expiry = header.expiry {
            let waited = (now - min(now, slots[index].arrived)) / 1_000_000_000
            header.expiry = UInt32(max(1, UInt64(expiry) - min(UInt64(expiry), waited)))
        }
        return (header, index)
    }

    func load(_ index: Int, into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        pool.load(slots[index].firstPage, count: slots[index].byteCount, into: &output)
    }

    /// The message is with the broker, or given up: its room is free again.
    mutating func release(_ ticket: Ticket, _ outcome: Settlement.Outcome = .delivered) {
        taken -= 1
        settle(ticket, outcome)
    }

    /// The message was not delivered: it is the next of its class again.
    mutating func putBack(_ ticket: Ticket) {
        if isOverflowing, slots[ticket].key > 0, !slots[ticket].isBackfill {
            return release(ticket, .displaced)
        }
        taken -= 1
        slots[ticket].isTaken = false
        linkFirst(ticket)
    }

    private mutating func linkFirst(_ index: Int) {
        let line = line(of: index)
        slots[index].next = lines[line].head
        lines[line].head = index
        if lines[line].tail < 0 { lines[line].tail = index }
        countWaiting(index, line, 1)
    }

    /// A message that was taken out and is not on disk waits until its topic is tried again.
    mutating func setAside(_ ticket: Ticket) {
        taken -= 1
        slots[ticket].isTaken = false
        slots[ticket].isAside = true
        link(ticket, Self.asideLine)
    }

    /// When there is one of these topics among those that were set aside, all of them are the next of their classes again,
    /// in their order.
    mutating func recallAside(where isWanted: (String) -> Bool) -> Bool {
        guard isAside({ isWanted($0.header.topic) }) else { return false }
        var all: [Int] = []
        while lines[Self.asideLine].head >= 0 { all.append(unlinkHead(Self.asideLine)) }
        all.sort { slots[$0].arrived < slots[$1].arrived }
        for index in all.reversed() {
            slots[index].isAside = false
            linkFirst(index)
        }
        return true
    }

    /// Whether a message that was taken out would overtake an older one of these topics that was set aside.
    func overtakes(_ ticket: Ticket, where isOfKind: (String) -> Bool) -> Bool {
        isAside { $0.arrived <= slots[ticket].arrived && isOfKind($0.header.topic) }
    }

    /// Whether there is such a one among those that were set aside.
    private func isAside(_ isMeant: (Slot) -> Bool) -> Bool {
        var index = lines[Self.asideLine].head
        while index >= 0 {
            if isMeant(slots[index]) { return true }
            index = slots[index].next
        }
        return false
    }

    /// Counts a message that was taken out and given up.
    mutating func drop(_ ticket: Ticket) {
        dropped[slots[ticket].header.priority] += 1
        release(ticket, .abandoned)
    }

    /// Arrival of the oldest live message that waits (ns); nil when none does.
    var oldest: UInt64? {
        var oldest: UInt64?
        for line in 0..<Self.backfillLine where lines[line].head >= 0 {
            oldest = min(oldest ?? .max, slots[lines[line].head].arrived)
        }
        return oldest
    }

    /// Makes room at the cost of back-fill, which is on disk, and then of the oldest of the least important class.
    private mutating func dropOldest(notAbove priority: Priority) -> Bool {
        if lines[Self.backfillLine].head >= 0 {
            displaceBackfill()
            return true
        }
        let aside = lines[Self.asideLine].head
        if aside >= 0, slots[aside].header.priority.rawValue >= priority.rawValue {
            _ = unlinkHead(Self.asideLine)
            if slots[aside].keeping == .asked {
                settle(aside, .displaced)
            } else {
                dropped[slots[aside].header.priority] += 1
                free(aside)
            }
            return true
        }
        for line in stride(from: Self.backfillLine - 1, through: priority.rawValue, by: -1) where lines[line].head >= 0
        {
            let index = lines[line].head
            if slots[index].key > 0 || slots[index].keeping == .asked {
                // What is newer must not overtake what leaves now for the disk.
                isOverflowing = true
                _ = unlinkHead(line)
                settle(index, .displaced)
                displaceKept()
            } else {
                _ = unlinkHead(line)
                dropped[slots[index].header.priority] += 1
                free(index)
            }
            return true
        }
        return false
    }

    func line(of index: Int) -> Int {
        if slots[index].isAside { return Self.asideLine }
        return slots[index].isBackfill ? Self.backfillLine : slots[index].header.priority.rawValue
    }

    private mutating func countWaiting(_ index: Int, _ line: Int, _ sign: Int) {
        lines[line].count += sign
        if line == Self.backfillLine {
            backfillWaitingBytes += sign * slots[index].byteCount
        } else if line < Self.backfillLine {
            count += sign
        }
    }

    private mutating func unlinkHead(_ line: Int) -> Int {
        let index = lines[line].head
        lines[line].head = slots[index].next
        if lines[line].head < 0 { lines[line].tail = -1 }
        countWaiting(index, line, -1)
        slots[index].next = -1
        return index
    }

    /// Takes a slot out of the middle of its line.
    mutating func unlink(_ index: Int, after previous: Int, line: Int) {
        guard previous >= 0 else {
            _ = unlinkHead(line)
            return
        }
        slots[previous].next = slots[index].next
        if lines[line].tail == index { lines[line].tail = previous }
        countWaiting(index, line, -1)
        slots[index].next = -1
    }

    private mutating func takeSlot(_ header: PublicationHeader) -> Int {
        if freeSlot >= 0 {
            let index = freeSlot
            freeSlot = slots[index].next
            slots[index].next = -1
            slots[index].header = header
            return index
        }
        slots.append(Slot(header: header))
        return slots.count - 1
    }

    /// Gives the bytes of a message back.
    private mutating func freePages(_ index: Int) {
        pool.release(slots[index].firstPage)
        bytes -= slots[index].byteCount
        slots[index].firstPage = PagePool.none
        slots[index].byteCount = 0
        if backfillWanted { (backfillWanted, hasNews) = (false, true) }
    }

    mutating func free(_ index: Int) {
        if slots[index].keeping == .wanted { unlinkUnkept(index) }
        freePages(index)
        freeSlotOnly(index)
    }

    private mutating func freeSlotOnly(_ index: Int) {
        slots[index].isTaken = false
        slots[index].isBackfill = false
        slots[index].isAside = false
        slots[index].wasRefused = false
        slots[index].keeping = .none
        slots[index].key = 0
        slots[index].fate = nil
        slots[index].generation &+= 1
        slots[index].next = freeSlot
        freeSlot = index
    }
}

/// The side of the queue that the keeper sees: the agent's storage thread, which writes essential messages to disk
/// before they leave, and brings old ones back.
///
/// An essential message that waits: `wanted` → `asked` (the keeper has a copy) → kept under a key, or not to be kept. It
/// may leave as soon as it is kept, or after 200 ms whatever happens (5 s in an overflow, and where what the broker
/// acknowledges may be gone). One that was delivered before the keeper asked stays until it has, since what a station
/// remembers is told from what was kept. Whoever ends it, the keeper hears of it once: by the answer to `markKept` when it
/// was over by then, else by a settlement.
extension PublicationQueue {
    /// Until when the message may not leave; nil: it may.
    private func waitsForKeeper(until index: Int) -> UInt64? {
        guard slots[index].keeping != .none else { return nil }
        // What a broker on trial takes must be on the disk, to be sent again.
        let isPatient = isOverflowing || trial != 0 || mustBeKept
        return slots[index].arrived + (isPatient ? Self.overflowPatience : Self.patience)
    }

    /// When the first essential message may leave that waits for the keeper now (ns).
    var keeperDeadline: UInt64? {
        let head = lines[Priority.essential.rawValue].head
        return head < 0 ? nil : waitsForKeeper(until: head)
    }

    // MARK: to the disk

    mutating func takeUnkept(
        into output: inout [UInt8]
    ) -> (header: PublicationHeader, arrived: UInt64, ticket: KeepTicket)? {
        let index = unkept.head
        guard index >= 0 else { return nil }
        unlinkUnkept(index)
        slots[index].keeping = .asked
        load(index, into: &output)
        if slots[index].fate != nil { freePages(index) }
        let ticket = KeepTicket(slot: Int32(truncatingIfNeeded: index), generation: slots[index].generation)
        return (slots[index].header, slots[index].arrived, ticket)
    }

    mutating func markKept(_ ticket: KeepTicket, key: Int64) -> KeepOutcome {
        guard let index = find(ticket) else { return .settled(.abandoned) }
        if let fate = slots[index].fate {
            freeSlotOnly(index)
            return .settled(fate)
        }
        slots[index].keeping = .none
        slots[index].key = key
        let isAside = slots[index].isAside
        guard isOverflowing || isAside, !slots[index].isTaken else { return .waiting }
        // Kept in order of arrival, so that it is the first or near it.
        let line = line(of: index)
        var previous = -1
        var candidate = lines[line].head
        while candidate != index, candidate >= 0 { (previous, candidate) = (candidate, slots[candidate].next) }
        guard candidate == index else { return .waiting }
        unlink(index, after: previous, line: line)
        if !isAside { displaced += 1 }
        free(index)
        return .settled(isAside ? .held : .displaced)
    }

    mutating func cannotKeep(_ ticket: KeepTicket) {
        guard let index = find(ticket) else { return }
        if let fate = slots[index].fate {
            if fate == .displaced {
                displaced -= 1
                dropped[slots[index].header.priority] += 1
            }
            freeSlotOnly(index)
        } else {
            slots[index].keeping = .none
        }
    }

    /// The slot that the keeper has in hand.
    private func find(_ ticket: KeepTicket) -> Int? {
        let index = Int(ticket.slot)
        guard slots.indices.contains(index), slots[index].generation == ticket.generation,
            slots[index].keeping == .asked
        else { return nil }
        return index
    }

    /// Removes the oldest message of the lower classes that has waited since before that time.
    mutating func withdraw(
        arrivedBefore time: UInt64, into output: inout [UInt8]
    ) -> (header: PublicationHeader, arrived: UInt64)? {
        var best: (line: Int, previous: Int, index: Int)?
        for line in [Priority.state.rawValue, Priority.trace.rawValue] {
            var previous = -1
            var index = lines[line].head
            // A retained one is here only when there are too many retained topics.
            while index >= 0, slots[index].header.retain { (previous, index) = (index, slots[index].next) }
            guard index >= 0, slots[index].arrived < time else { continue }
            if let found = best, slots[found.index].arrived <= slots[index].arrived { continue }
            best = (line, previous, index)
        }
        guard let (line, previous, index) = best else { return nil }
        load(index, into: &output)
        let (header, arrived) = (slots[index].header, slots[index].arrived)
        unlink(index, after: previous, line: line)
        free(index)
        return (header, arrived)
    }

    // MARK: from the disk

    mutating func offerBackfill(
        _ header: PublicationHeader, key: Int64, _ payload: UnsafeRawBufferPointer, now: UInt64
    ) -> Bool {
        let line = Self.backfillLine
        let waiting = lines[line].count
        let fits = waiting == 0 || backfillWaitingBytes + payload.count <= Self.backfillBytes
        let pages = PagePool.pages(for: payload.count)
        guard pages <= pool.pageCount else {
            settled.append(Settlement(key: key, outcome: .tooLarge))
            hasNews = true
            return true
        }
        guard waiting < Self.backfillMessages, fits, hasRoomForBackfill(pages),
            let index = insert(header, payload, now: now, line: line)
        else {
            backfillWanted = true
            return false
        }
        slots[index].key = key
        slots[index].header.qos = 1
        return true
    }

    /// A quarter of the queue stays free for what is made now; otherwise messages from disk would come and be pushed out
    /// again. An empty queue takes any.
    private func hasRoomForBackfill(_ pages: Int) -> Bool {
        if bytes == 0, count == 0 { return hasRoom(pages) }
        return hasRoom(pages + pool.pageCount / 4) && hasMessageReserve
    }

    /// Next message of the back-fill; nil: nothing waits.
    var nextBackfill: (priority: Priority, bytes: Int)? {
        let head = lines[Self.backfillLine].head
        return head < 0 ? nil : (slots[head].header.priority, slots[head].byteCount)
    }

    mutating func takeBackfill(
        into output: inout [UInt8], now: UInt64
    ) -> (header: PublicationHeader, ticket: Ticket)? {
        guard lines[Self.backfillLine].head >= 0 else { return nil }
        return takeHead(Self.backfillLine, into: &output, now: now)
    }

    /// Live messages need the room; all of the back-fill that waits goes, so that its order stays.
    private mutating func displaceBackfill() {
        while lines[Self.backfillLine].head >= 0 { settle(unlinkHead(Self.backfillLine), .displaced) }
    }

    // MARK: another disk

    /// Keys of what is here as well as on the disk, or was until the keeper hears of it.
    var keptKeys: Set<Int64> {
        Set(slots.map(\.key).filter { $0 > 0 } + settled.filter(\.outcome.isFinal).map(\.key))
    }

    /// Wants messages that nobody has on a disk to be kept once more, oldest first.
    /// - Parameter all: what was kept is not there any more either: keys count no longer.
    mutating func keepAgain(all: Bool) {
        var indices = slots.indices.filter { slots[$0].isTaken }
        for line in [Priority.essential.rawValue, Self.backfillLine] {
            var index = lines[line].head
            while index >= 0 {
                indices.append(index)
                index = slots[index].next
            }
        }
        if all { settled.removeAll(keepingCapacity: true) }
        for index in indices.sorted(by: { slots[$0].arrived < slots[$1].arrived }) {
            let slot = slots[index]
            let isEssential = slot.header.priority == .essential && !slot.header.retain
            guard slot.keeping == .none, slot.key > 0 ? all : isEssential else { continue }
            slots[index].key = 0
            slots[index].keeping = .wanted
            linkUnkept(index)
        }
        hasNews = true
    }

    // MARK: ends

    /// From now on what is kept goes by way of the disk; with false what comes is sent from memory again, unless something
    /// older is still to be sent that the newer would overtake.
    mutating func setOverflow(_ on: Bool) {
        guard !on else {
            isOverflowing = true
            return displaceKept()
        }
        // Displaced just now, and the keeper cannot know of it yet.
        guard !settled.contains(where: { $0.outcome == .displaced }),
            !slots.contains(where: { $0.fate == .displaced })
        else { return }
        // Back-fill waits, and live messages leave before it.
        var index = lines[Self.backfillLine].head
        while index >= 0 {
            if slots[index].header.priority == .essential { return }
            index = slots[index].next
        }
        isOverflowing = false
    }

    /// All essential messages that are on disk and wait here leave memory.
    private mutating func displaceKept() {
        let line = Priority.essential.rawValue
        var previous = -1
        var index = lines[line].head
        while index >= 0 {
            let next = slots[index].next
            if slots[index].key > 0 {
                unlink(index, after: previous, line: line)
                settle(index, .displaced)
            } else {
                previous = index
            }
            index = next
        }
    }

    /// Ends a message that is in no line any more, and tells the keeper if it knows of it.
    mutating func settle(_ index: Int, _ end: Settlement.Outcome) {
        let outcome = trial == 0 || end == .displaced || end == .held ? end : .onTrial(trial, end)
        if outcome == .displaced, !slots[index].isBackfill { displaced += 1 }
        if slots[index].keeping == .asked {
            // The keeper has it in hand and hears of it when it comes back.
            freePages(index)
            slots[index].isTaken = false
            slots[index].fate = outcome
            return
        }
        if slots[index].keeping == .wanted, end == .delivered {
            slots[index].isTaken = false
            slots[index].fate = outcome
            return
        }
        if slots[index].key > 0 {
            settled.append(Settlement(key: slots[index].key, outcome: outcome))
            hasNews = true
        } else if outcome == .displaced {
            // Its disk is lost, and the keeper was not there yet.
            displaced -= slots[index].isBackfill ? 0 : 1
            dropped[slots[index].header.priority] += 1
        }
        free(index)
    }

    // MARK: the list of those that wait for the keeper

    /// Lets go of the oldest that was delivered and that the keeper has not asked for; false: there is none.
    private mutating func forgetDelivered() -> Bool {
        var index = unkept.head
        while index >= 0, slots[index].fate == nil { index = slots[index].nextUnkept }
        guard index >= 0 else { return false }
        free(index)
        return true
    }

    private mutating func linkUnkept(_ index: Int) {
        slots[index].previousUnkept = unkept.tail
        slots[index].nextUnkept = -1
        if unkept.tail < 0 { unkept.head = index } else { slots[unkept.tail].nextUnkept = index }
        unkept.tail = index
        unkept.count += 1
    }

    private mutating func unlinkUnkept(_ index: Int) {
        let (previous, next) = (slots[index].previousUnkept, slots[index].nextUnkept)
        if previous < 0 { unkept.head = next } else { slots[previous].nextUnkept = next }
        if next < 0 { unkept.tail = previous } else { slots[next].previousUnkept = previous }
        (slots[index].previousUnkept, slots[index].nextUnkept) = (-1, -1)
        unkept.count -= 1
    }
}
