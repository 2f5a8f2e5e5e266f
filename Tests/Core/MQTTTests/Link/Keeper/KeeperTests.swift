import Messages
import Platform
import Testing

@testable import MQTT

private let millisecond: UInt64 = 1_000_000

@Suite struct KeeperTests {
    /// What a lost disk had kept of it was in memory only, and gone with a restart; its keys would have meant other
    /// messages on the new disk.
    @Test func afterTheLossOfTheDiskMemoryIsKeptAgain() {
        let bench = Bench.kept()
        for text in ["a", "b", "c"] { bench.put("e", text, .essential) }
        #expect(bench.keepAll(from: 1) == ["a", "b", "c"])
        bench.put("e", "refused", .essential)
        if let (_, ticket) = bench.ask() { bench.store.withLock { $0.queue.cannotKeep(ticket) } }
        bench.put("t", "trace", .trace)
        #expect(bench.ask() == nil)
        // The same disk works again: only what it did not take.
        #expect(bench.store.withLock { $0.queue.keptKeys } == [1, 2, 3])
        bench.store.withLock { $0.queue.keepAgain(all: false) }
        #expect(bench.keepAll(from: 4) == ["refused"])
        // Another one.
        bench.store.withLock { $0.queue.keepAgain(all: true) }
        #expect(bench.store.withLock { $0.queue.keptKeys }.isEmpty)
        #expect(bench.keepAll(from: 11) == ["a", "b", "c", "refused"])
        bench.comeUp()
        bench.acknowledge()
        #expect(bench.settled().map(\.key) == [11, 12, 13, 14])
    }

    /// Back-fill, and what is on its way: the old keys are never heard of again.
    @Test func whatIsOnItsWayAndBackFillAreKeptAgainToo() {
        let bench = Bench.kept().up()
        bench.put("e", "flying", .essential)
        bench.keepAll(from: 1)
        bench.step()
        #expect(bench.texts == ["flying"])
        let header = PublicationHeader(topic: "h", qos: 1, retain: false, priority: .state)
        let isTaken = Array("old".utf8).withUnsafeBytes { bytes in
            bench.store.withLock { $0.queue.offerBackfill(header, key: 9, bytes, now: bench.now) }
        }
        #expect(isTaken)
        bench.store.withLock { $0.queue.keepAgain(all: true) }
        #expect(bench.keepAll(from: 21) == ["flying", "old"])
        bench.acknowledge()
        for _ in 0..<50 {
            bench.step(after: 100 * millisecond)
            bench.acknowledge()
        }
        #expect(bench.settled().map(\.key) == [21, 22])
    }

    @Test func anEssentialMessageWaitsForTheKeeperButNotLongerThan200ms() {
        let bench = Bench.kept().up()
        bench.put("e", "event", .essential)
        bench.put("t", "trace", .trace)
        bench.step()
        // Other classes pass meanwhile.
        #expect(bench.texts == ["trace"])
        #expect(bench.core.deadline == bench.now + 200 * millisecond)
        bench.step(after: 199 * millisecond)
        #expect(bench.texts == ["trace"])
        bench.step(after: millisecond)
        #expect(bench.texts == ["trace", "event"])
        // The keeper is offered it all the same, since it may not arrive.
        #expect(bench.ask()?.text == "event")
    }

    /// Defect: a message that was delivered before the busy storage thread asked for it was in no event's memory: `resend`
    /// said that it was gone.
    @Test func whatWasDeliveredBeforeTheKeeperAskedIsKeptAllTheSame() throws {
        let bench = Bench.kept().up()
        for text in ["first", "second"] { bench.put("e", text, .essential) }
        bench.step(after: 200 * millisecond)
        bench.acknowledge()
        #expect(bench.texts == [] && bench.store.withLock { $0.queue.count } == 0)
        let (text, ticket) = try #require(bench.ask())
        #expect(text == "first")
        #expect(bench.mark(ticket, 1) == .settled(.delivered))
        // The storage that cannot keep it is not asked again.
        let (other, refused) = try #require(bench.ask())
        #expect(other == "second")
        bench.store.withLock { $0.queue.cannotKeep(refused) }
        #expect(bench.ask() == nil && bench.settled().isEmpty)
        #expect(bench.store.withLock { $0.queue.bytes == 0 && $0.queue.dropped.essential == 0 })
    }

    /// What waits only to be remembered makes room for what waits to be sent.
    @Test func whatWasDeliveredTakesNoRoomFromWhatWaits() {
        var queue = PublicationQueue(bytes: 4 * PagePool.pageBytes, messages: 16, keepsEssential: true)
        let header = PublicationHeader(topic: "e", qos: 1, retain: false, priority: .essential)
        let payload = [UInt8](repeating: 0x61, count: PagePool.pageBytes)
        var taken: [UInt8] = []
        for number in 0..<8 as Range<UInt64> {
            #expect(payload.withUnsafeBytes { queue.append(header, $0, now: number) })
            if let (_, ticket) = queue.take(into: &taken, now: number + PublicationQueue.patience) {
                queue.release(ticket)
            }
        }
        #expect(queue.dropped.essential == 0)
        var offered = 0
        while let (_, _, ticket) = queue.takeUnkept(into: &taken) {
            offered += 1
            #expect(queue.markKept(ticket, key: Int64(offered)) == .settled(.delivered))
        }
        #expect(offered > 0 && offered <= 4 && queue.bytes == 0)
    }

    @Test func whatIsKeptLeavesAtOnceAndInOrder() {
        let bench = Bench.kept().up()
        for index in 0..<3 { bench.put("e", "event \(index)", .essential) }
        bench.step()
        #expect(bench.texts == [])
        #expect(bench.keepAll(from: 7) == ["event 0", "event 1", "event 2"])
        bench.step()
        #expect(bench.texts == ["event 0", "event 1", "event 2"])
        #expect(bench.settled() == [])
        bench.acknowledge()
        #expect(bench.settled() == (7..<10).map { Settlement(key: $0, outcome: .delivered) })
        #expect(bench.core.statistics.unkept == 0)
    }

    @Test func anOlderOneThatIsNotKeptHoldsTheYoungerBack() {
        let bench = Bench.kept().up()
        bench.put("e", "first", .essential)
        bench.put("e", "second", .essential)
        guard let first = bench.ask(), let second = bench.ask() else {
            Issue.record("nothing to keep")
            return
        }
        #expect(bench.mark(second.ticket, 2) == .waiting)
        bench.step()
        #expect(bench.texts == [])
        #expect(bench.mark(first.ticket, 1) == .waiting)
        bench.step()
        #expect(bench.texts == ["first", "second"])
    }

    @Test func aMessageThatCannotBeKeptLeavesAtOnce() {
        let bench = Bench.kept().up()
        bench.put("e", "event", .essential)
        guard let asked = bench.ask() else {
            Issue.record("nothing to keep")
            return
        }
        bench.store.withLock { $0.queue.cannotKeep(asked.ticket) }
        bench.step()
        #expect(bench.texts == ["event"])
        #expect(bench.ask() == nil)
        bench.acknowledge()
        #expect(bench.settled() == [])
    }

    @Test func onlyEssentialMessagesThatAreNotRetainedAreKept() {
        let bench = Bench.kept().up()
        bench.put("s/info", "info", retain: true, .essential)
        bench.put("t", "trace", .trace)
        bench.put("s", "state", .state)
        #expect(bench.ask() == nil)
        bench.step()
        #expect(bench.texts == ["info", "state", "trace"])
    }

    @Test func withoutAKeeperNothingWaitsAndNothingIsOffered() {
        let bench = Bench().up()
        bench.put("e", "event", .essential)
        #expect(bench.ask() == nil)
        bench.step()
        #expect(bench.texts == ["event"])
        bench.acknowledge()
        #expect(bench.settled() == [])
    }

    @Test func theKeeperHearsHowEachKeyEnded() {
        var limits = BrokerLimits()
        limits.maximumPacketSize = 500
        let bench = Bench.kept().up(limits)
        bench.put("e", "good", .essential)
        bench.put("e", "forbidden", .essential)
        bench.put("e", String(repeating: "x", count: 600), .essential)
        bench.put("", "no topic", .essential)
        bench.keepAll(from: 1)
        bench.step()
        let ids = bench.transport.sent.map(\.id)
        #expect(bench.texts == ["good", "forbidden"])
        bench.transport.events.append(.finished(id: ids[0], reason: 16))
        bench.transport.events.append(.finished(id: ids[1], reason: 135))
        bench.step()
        let expected = [
            Settlement(key: 3, outcome: .tooLarge), Settlement(key: 4, outcome: .refused(144)),
            Settlement(key: 1, outcome: .delivered), Settlement(key: 2, outcome: .held),
        ]
        #expect(bench.settled() == expected)
    }

    @Test func aMessageThatIsOverBeforeItIsKeptIsToldByTheAnswer() {
        let bench = Bench.kept().up()
        bench.put("e", "event", .essential)
        guard let asked = bench.ask() else {
            Issue.record("nothing to keep")
            return
        }
        bench.step(after: 200 * millisecond)
        bench.acknowledge()
        #expect(bench.mark(asked.ticket, 1) == .settled(.delivered))
        #expect(bench.settled() == [])
        // The slot is free again, and the old ticket finds nothing of the next.
        bench.put("e", "next", .essential)
        #expect(bench.mark(asked.ticket, 2) == .settled(.abandoned))
        #expect(bench.ask()?.text == "next")
    }

    @Test func keptMessagesAreDisplacedAndNotDropped() {
        let bench = Bench.kept { $0.queueMessages = 3 }
        for index in 0..<3 { bench.put("e", "event \(index)", .essential) }
        bench.keepAll(from: 1)
        bench.put("e", "event 3", .essential)
        bench.step()
        // All that is kept goes with the oldest, so that nothing newer overtakes it.
        #expect(bench.settled() == (1..<4).map { Settlement(key: $0, outcome: .displaced) })
        #expect(bench.core.statistics.dropped.total == 0)
        #expect(bench.core.statistics.displaced == 3)
        // So does what is kept from now on.
        guard let asked = bench.ask() else {
            Issue.record("nothing to keep")
            return
        }
        #expect(bench.mark(asked.ticket, 4) == .settled(.displaced))
        bench.comeUp()
        #expect(bench.texts == ["online"])
        bench.store.withLock { $0.queue.setOverflow(false) }
        bench.put("e", "event 4", .essential)
        bench.keepAll(from: 5)
        bench.step()
        #expect(bench.texts == ["online", "event 4"])
    }

    @Test func anEssentialMessageThatNobodyKeptIsCountedWhenItIsDropped() {
        let bench = Bench.kept { $0.queueMessages = 2 }
        for index in 0..<3 { bench.put("e", "event \(index)", .essential) }
        bench.step()
        #expect(bench.core.statistics.dropped.essential == 1)
        #expect(bench.keepAll(from: 1) == ["event 1", "event 2"])
    }

    @Test(arguments: [true, false]) func aMessageThatLosesItsPlaceWhileTheKeeperWritesItIsNotLost(written: Bool) {
        let bench = Bench.kept { $0.queueMessages = 1 }
        bench.put("e", "event 0", .essential)
        guard let asked = bench.ask() else {
            Issue.record("nothing to keep")
            return
        }
        bench.put("e", "event 1", .essential)
        if written {
            #expect(bench.mark(asked.ticket, 1) == .settled(.displaced))
        } else {
            bench.store.withLock { $0.queue.cannotKeep(asked.ticket) }
        }
        bench.step()
        #expect(bench.core.statistics.dropped.essential == (written ? 0 : 1))
        #expect(bench.core.statistics.displaced == (written ? 1 : 0))
        #expect(bench.ask()?.text == "event 1")
    }

    @Test func theOverflowGoesByWayOfTheDiskForAsLongAsTheKeeperSays() {
        let bench = Bench.kept().up()
        bench.put("e", "a", .essential)
        bench.keepAll(from: 1)
        bench.put("e", "b", .essential)
        bench.store.withLock { $0.queue.setOverflow(true) }
        #expect(bench.settled() == [Settlement(key: 1, outcome: .displaced)])
        guard let asked = bench.ask() else {
            Issue.record("nothing to keep")
            return
        }
        #expect(bench.mark(asked.ticket, 2) == .settled(.displaced))
        bench.step(after: second)
        #expect(bench.texts == [])
        #expect(bench.core.statistics.queueBytes == 0)
    }

    /// Said at the wrong moment it would let what is new overtake what is old.
    @Test func theOverflowDoesNotEndWhileSomethingOlderIsStillToBeSent() {
        let bench = Bench.kept { $0.queueMessages = 8 }
        func isOverflowing() -> Bool {
            bench.store.withLock {
                $0.queue.setOverflow(false)
                return $0.queue.isOverflowing
            }
        }
        for index in 0..<9 { bench.put("e", "event \(index)", .essential) }
        // Nothing was kept: the first is dropped, not displaced.
        #expect(!isOverflowing())
        guard let asked = bench.ask() else {
            Issue.record("nothing to keep")
            return
        }
        bench.put("e", "event 9", .essential)
        // It has lost its place while the keeper writes it.
        #expect(isOverflowing())
        #expect(bench.mark(asked.ticket, 1) == .settled(.displaced))
        #expect(!isOverflowing())
        bench.keepAll(from: 2)
        bench.put("e", "event 10", .essential)
        // The keeper has not heard of those yet.
        #expect(isOverflowing())
        #expect(bench.settled().count == 8)
        bench.offer("event 1", key: 1)
        #expect(isOverflowing())
        bench.comeUp()
        #expect(bench.texts.last == "event 1")
        #expect(!isOverflowing())
    }

    @Test func withdrawnIsTheOldestOfTheLowerClassesThatIsNotOnItsWay() {
        let bench = Bench.kept().up()
        var limits = BrokerLimits()
        limits.receiveMaximum = 1
        bench.transport.events.append(.connected(limits))
        bench.put("t", "trace 0", .trace)
        bench.step()
        bench.core.session.limits.receiveMaximum = 1
        bench.put("e", "event", .essential)
        bench.put("s", "state 0", .state)
        bench.now += second
        bench.put("t", "trace 1", .trace)
        bench.now += second
        bench.put("s", "state 1", .state)
        bench.step()
        #expect(bench.texts == ["trace 0"])
        #expect(bench.withdraw(waited: 3 * second) == nil)
        #expect(bench.withdraw(waited: second / 2) == "state 0")
        #expect(bench.withdraw(waited: second / 2) == "trace 1")
        #expect(bench.withdraw(waited: second / 2) == nil)
        bench.step()
        #expect(bench.core.statistics.dropped.total == 0)
        #expect(bench.core.statistics.queueMessages == 2)
    }

    @Test func afterTheStopWhatWasNotAcknowledgedIsThereForTheDisk() {
        let bench = Bench.kept().up()
        bench.put("t", "trace 0", .trace)
        bench.step()
        bench.put("e", "event", .essential)
        bench.step(after: 200 * millisecond)
        #expect(bench.texts == ["trace 0", "event"])
        bench.core.handle(.stop(within: second), now: bench.now)
        bench.step(after: second)
        bench.step(after: second)
        #expect(bench.core.life.isStopped)
        #expect(bench.withdraw(waited: 0) == "trace 0")
        #expect(bench.keepAll(from: 1) == ["event"])
    }

    /// A defect: what was held, too large or on trial when the disk broke was neither in memory nor taken from the old disk.
    @Test(arguments: [
        (Settlement.Outcome.delivered, 0, true), (.refused(135), 0, true), (.delivered, 3, false), (.held, 0, false),
        (.tooLarge, 0, false), (.abandoned, 0, false), (.displaced, 0, false),
    ]) func aNewDiskGetsFromTheOldOneAllThatHasNotEnded(outcome: Settlement.Outcome, trial: Int, isKnown: Bool) {
        let bench = Bench.kept()
        bench.put("e", "event", .essential)
        #expect(bench.keepAll(from: 4) == ["event"])
        #expect(bench.store.withLock { $0.queue.keptKeys } == [4])
        bench.store.withLock { store in
            var bytes: [UInt8] = []
            store.queue.trial = trial
            if let (_, ticket) = store.take(into: &bytes, now: 0) { store.release(ticket, outcome) }
        }
        #expect(bench.store.withLock { $0.queue.keptKeys } == (isKnown ? [4] : []))
    }

    @Test func theExpiryBecomesShorterWhileAMessageWaits() {
        let bench = Bench()
        for expiry in [3600, 60, 2] as [UInt32] {
            let header = PublicationHeader(topic: "e", qos: 1, retain: false, expiry: expiry, priority: .trace)
            bench.store.withLock { $0.put(header, UnsafeRawBufferPointer(start: nil, count: 0), now: 0) }
        }
        bench.put("e")
        bench.now = 59 * second + second / 2
        bench.comeUp()
        #expect(bench.transport.sent.dropFirst().map(\.header.expiry) == [3541, 1, 1, nil])
    }

    @Test func theKeeperIsWokenWhenThereIsSomethingForIt() throws {
        let wake = try Wake()
        var options = LinkOptions(brokers: [], clientID: "", presence: .init(topic: ""))
        options.keepsEssential = true
        let store = SharedStore(options: options, keeperWake: wake)
        func isWoken() -> Bool { wake.take() }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        func put(_ priority: Priority) {
            let header = PublicationHeader(topic: "e", qos: 1, retain: false, priority: priority)
            store.withLock { $0.put(header, none, now: 0) }
        }
        put(.trace)
        #expect(!isWoken())
        put(.essential)
        #expect(isWoken())
        var bytes: [UInt8] = []
        let asked = store.withLock { $0.queue.takeUnkept(into: &bytes)?.ticket }
        let ticket = try #require(asked)
        let outcome = store.withLock { $0.queue.markKept(ticket, key: 1) }
        #expect(outcome == .waiting)
        #expect(!isWoken())
        let sent = store.withLock { store in
            while let (header, ticket) = store.take(into: &bytes, now: 0) {
                store.release(ticket, .delivered)
                if header.priority == .essential { return true }
            }
            return false
        }
        #expect(sent)
        #expect(isWoken())
    }
}
