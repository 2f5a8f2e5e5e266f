import Messages
import Testing

@testable import MQTT

private let millisecond: UInt64 = 1_000_000

extension Bench {
    @discardableResult
    func offer(_ text: String, key: Int64, _ priority: Priority = .essential, bytes: Int = 0) -> Bool {
        var header = PublicationHeader(topic: "d/history", qos: 0, retain: false, priority: priority)
        header.isHistory = true
        let padded = text + String(repeating: ".", count: max(0, bytes - text.utf8.count))
        return Array(padded.utf8).withUnsafeBytes { payload in
            store.withLock { $0.queue.offerBackfill(header, key: key, payload, now: now) }
        }
    }
}

@Suite struct BackfillTests {
    @Test func backfillIsSentAfterAllThatIsLiveInItsOwnOrder() {
        let bench = Bench.kept()
        for index in 0..<3 { bench.offer("old \(index)", key: Int64(index + 1)) }
        bench.put("t", "live 0", .trace)
        bench.put("t", "live 1", .trace)
        bench.comeUp()
        #expect(bench.texts == ["online", "live 0", "live 1", "old 0", "old 1", "old 2"])
        #expect(bench.transport.sent.last?.header.qos == 1)
        #expect(bench.transport.sent.last?.header.isHistory == true)
        bench.acknowledge()
        #expect(bench.settled() == (1..<4).map { Settlement(key: $0, outcome: .delivered) })
        #expect(bench.core.statistics.backfilled == 3)
        #expect(bench.core.statistics.backfillWaiting == 0)
    }

    @Test func lessImportantBackfillKeepsToItsRate() {
        let bench = Bench.kept { $0.backfillPerSecond = 10 }.up()
        for index in 0..<4 { bench.offer("old \(index)", key: Int64(index + 1), .trace) }
        var times: [UInt64] = []
        let began = bench.now
        for _ in 0..<10 {
            bench.step()
            for _ in bench.texts { times.append((bench.now - began + millisecond / 2) / millisecond) }
            bench.acknowledge()
            if times.count == 4 { break }
            guard let deadline = bench.core.deadline else {
                Issue.record("nothing is due")
                break
            }
            bench.now = deadline
        }
        #expect(times == [0, 100, 200, 300])
    }

    @Test func essentialBackfillHasNoRate() {
        let bench = Bench.kept { $0.backfillPerSecond = 0 }.up()
        for index in 0..<5 { bench.offer("old \(index)", key: Int64(index + 1)) }
        bench.offer("trace", key: 6, .trace)
        bench.step()
        #expect(bench.texts.count == 5)
        #expect(bench.core.session.sendableAt == nil)
    }

    @Test func noMoreThan64KiBOfBackfillAreOnTheirWay() {
        let bench = Bench.kept().up()
        for index in 0..<5 { bench.offer("\(index)", key: Int64(index + 1), bytes: 20 << 10) }
        bench.step()
        #expect(bench.transport.sent.count == 3)
        // Live messages find a free place all the same.
        bench.put("t", "live", .trace)
        bench.step()
        #expect(bench.texts.last == "live")
        bench.acknowledge()
        #expect(bench.transport.sent.count == 2)
        bench.acknowledge()
        // One that is larger leaves alone.
        for index in 5..<7 { bench.offer("\(index)", key: Int64(index + 1), bytes: 100 << 10) }
        bench.step()
        #expect(bench.transport.sent.count == 1)
        bench.acknowledge()
        #expect(bench.transport.sent.count == 1)
    }

    @Test func halfOfTheWindowStaysFreeForLiveMessages() {
        var limits = BrokerLimits()
        limits.receiveMaximum = 10
        let bench = Bench.kept().up(limits)
        for index in 0..<20 { bench.offer("old \(index)", key: Int64(index + 1)) }
        bench.step()
        #expect(bench.transport.sent.count == 5)
    }

    @Test func theRoomForBackfillIsBoundedAndTheKeeperHearsWhenThereIsSome() {
        let bench = Bench.kept()
        for index in 0..<32 {
            let taken = bench.offer("old \(index)", key: Int64(index + 1))
            #expect(taken)
        }
        let oneMore = bench.offer("one more", key: 33)
        #expect(!oneMore)
        #expect(bench.store.withLock { $0.queue.backfillWanted })
        bench.comeUp()
        bench.acknowledge()
        #expect(!bench.store.withLock { $0.queue.backfillWanted })
        let now = bench.offer("one more", key: 33)
        #expect(now)
        let other = Bench.kept()
        for key in 1...2 as ClosedRange<Int64> {
            let taken = other.offer("", key: key, bytes: 128 << 10)
            #expect(taken)
        }
        let tooMuch = other.offer("x", key: 3)
        #expect(!tooMuch)
    }

    @Test func oneOfAnySizeFitsAloneAndOneThatNeverFitsIsSaidTo() {
        let bench = Bench.kept { $0.queueBytes = 1 << 20 }
        let large = bench.offer("", key: 1, bytes: 1 << 20)
        #expect(large)
        let impossible = bench.offer("", key: 2, bytes: (1 << 20) + 1)
        #expect(impossible)
        #expect(bench.settled() == [Settlement(key: 2, outcome: .tooLarge)])
    }

    @Test func liveMessagesPushBackfillOutAndItStaysOut() {
        let bench = Bench.kept { $0.queueMessages = 8 }
        for index in 0..<6 { bench.offer("old \(index)", key: Int64(index + 1)) }
        for index in 0..<8 { bench.put("t", "live \(index)", .trace) }
        bench.step()
        #expect(bench.settled() == (1..<7).map { Settlement(key: $0, outcome: .displaced) })
        #expect(bench.core.statistics.dropped.total == 0)
        // A quarter of the queue has to be free before any comes back.
        let early = bench.offer("old 0", key: 1)
        #expect(!early)
        for _ in 0..<3 { _ = bench.withdraw(waited: 0) }
        bench.now += 1
        for _ in 0..<3 { _ = bench.withdraw(waited: 0) }
        let later = bench.offer("old 0", key: 1)
        #expect(later)
    }

    @Test func backfillGoesBackInOrderWhenTheBrokerChanges() {
        let bench = Bench(brokers: 2) { $0.keepsEssential = true }.up()
        for index in 0..<3 { bench.offer("old \(index)", key: Int64(index + 1)) }
        bench.step()
        #expect(bench.texts == ["old 0", "old 1", "old 2"])
        bench.moveOn()
        #expect(bench.texts == ["online", "old 0", "old 1", "old 2"])
        bench.acknowledge()
        #expect(bench.settled().map(\.key) == [1, 2, 3])
    }

    @Test func aStopDoesNotWaitForBackfill() {
        let bench = Bench.kept { $0.backfillPerSecond = 0 }.up()
        bench.offer("old", key: 1, .trace)
        bench.core.handle(.stop(within: 5 * second), now: bench.now)
        bench.step()
        #expect(bench.texts == ["offline"])
    }

    @Test func theBucketLetsATenthOfASecondThroughAtOnceAndThenItsRate() {
        var bucket = TokenBucket(perSecond: 50)
        var passed: [UInt64] = []
        for time in stride(from: 0, to: 1_000_000_000 as UInt64, by: 1_000_000) {
            while bucket.take(now: time) { passed.append(time / 1_000_000) }
        }
        #expect(passed.count == 54 || passed.count == 55)
        #expect(passed.prefix(5) == [0, 0, 0, 0, 0])
        // After an hour in which nothing passed no more do at once.
        var rested = 0
        while bucket.take(now: 3_600_000_000_000) { rested += 1 }
        #expect(rested == 5)
        var closed = TokenBucket(perSecond: 0)
        let none = closed.take(now: 5_000_000_000)
        #expect(!none)
        #expect(closed.next == nil)
    }
}
