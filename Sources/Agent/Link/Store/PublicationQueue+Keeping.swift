import Messages

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
    func waitsForKeeper(until index: Int) -> UInt64? {
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

    /// What is next of the back-fill; nil: nothing waits.
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
    mutating func displaceBackfill() {
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
    mutating func displaceKept() {
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
    mutating func forgetDelivered() -> Bool {
        var index = unkept.head
        while index >= 0, slots[index].fate == nil { index = slots[index].nextUnkept }
        guard index >= 0 else { return false }
        free(index)
        return true
    }

    mutating func linkUnkept(_ index: Int) {
        slots[index].previousUnkept = unkept.tail
        slots[index].nextUnkept = -1
        if unkept.tail < 0 { unkept.head = index } else { slots[unkept.tail].nextUnkept = index }
        unkept.tail = index
        unkept.count += 1
    }

    mutating func unlinkUnkept(_ index: Int) {
        let (previous, next) = (slots[index].previousUnkept, slots[index].nextUnkept)
        if previous < 0 { unkept.head = next } else { slots[previous].nextUnkept = next }
        if next < 0 { unkept.tail = previous } else { slots[next].previousUnkept = previous }
        (slots[index].previousUnkept, slots[index].nextUnkept) = (-1, -1)
        unkept.count -= 1
    }
}
