import Messages
import TestSupport
import Testing

@testable import MQTT

extension PublicationQueue {
    @discardableResult
    mutating func put(_ text: String, _ priority: Priority, now: UInt64 = 0) -> Bool {
        let header = PublicationHeader(topic: "t/\(priority.rawValue)", qos: 1, retain: false, priority: priority)
        return Array(text.utf8).withUnsafeBytes { append(header, $0, now: now) }
    }

    mutating func next(now: UInt64 = 0) -> (text: String, ticket: Ticket)? {
        var bytes: [UInt8] = []
        guard let (_, ticket) = take(into: &bytes, now: now) else { return nil }
        return (String(decoding: bytes, as: UTF8.self), ticket)
    }

    /// Takes and releases all.
    mutating func drain() -> [String] {
        var all: [String] = []
        while let (text, ticket) = next() {
            all.append(text)
            release(ticket)
        }
        return all
    }
}

@Suite struct PublicationQueueTests {
    @Test func importantFirstInOrderOfArrivalWithinAClass() {
        var queue = PublicationQueue(bytes: 1 << 16, messages: 100)
        for index in 0..<3 {
            queue.put("trace \(index)", .trace)
            queue.put("event \(index)", .essential)
            queue.put("state \(index)", .state)
        }
        #expect(queue.count == 9)
        let all = queue.drain()
        #expect(
            all == [
                "event 0", "event 1", "event 2", "state 0", "state 1", "state 2", "trace 0", "trace 1", "trace 2",
            ])
        #expect(queue.count == 0)
        #expect(queue.bytes == 0)
    }

    @Test func whenMessagesAreTooManyTheOldestOfTheLeastImportantGoes() {
        var queue = PublicationQueue(bytes: 1 << 20, messages: 4)
        queue.put("e0", .essential)
        queue.put("t0", .trace)
        queue.put("t1", .trace)
        queue.put("s0", .state)
        queue.put("e1", .essential)
        #expect(queue.dropped.trace == 1)
        queue.put("s1", .state)
        #expect(queue.dropped.trace == 2)
        queue.put("e2", .essential)
        #expect(queue.dropped.state == 1)
        // Nothing that is not more important is left to make room: the newcomer is the one that goes.
        let traceFits = queue.put("t2", .trace)
        #expect(!traceFits)
        #expect(queue.dropped.trace == 3)
        queue.put("e3", .essential)
        queue.put("e4", .essential)
        #expect(queue.dropped.state == 2)
        #expect(queue.dropped.essential == 1)
        #expect(queue.dropped.total == 6)
        #expect(queue.drain() == ["e1", "e2", "e3", "e4"])
    }

    @Test func bytesAreBoundedAndLongMessagesComeBackWhole() {
        var queue = PublicationQueue(bytes: 10 * PagePool.pageBytes, messages: 100)
        let long = String(repeating: "0123456789abcdef", count: 300)  // 4800 bytes, 5 pages
        let whole = queue.put(long, .trace) && queue.put(long, .trace)
        #expect(whole)
        #expect(queue.bytes == 9600)
        queue.put("one more page", .trace)
        #expect(queue.dropped.trace == 1)
        #expect(queue.drain() == [long, "one more page"])
        let tooLong = queue.put(String(repeating: "x", count: 10 * PagePool.pageBytes + 1), .essential)
        #expect(!tooLong)
        #expect(queue.dropped.essential == 1)
        let exact = queue.put(String(repeating: "y", count: 10 * PagePool.pageBytes), .essential)
        #expect(exact)
        let empty = queue.put("", .essential)
        #expect(empty)
        #expect(queue.drain().map(\.count) == [10240, 0])
    }

    @Test func whatIsOnItsWayKeepsItsPlaceUntilItIsReleased() {
        var queue = PublicationQueue(bytes: 2 * PagePool.pageBytes, messages: 2)
        queue.put("a", .trace)
        queue.put("b", .trace)
        guard let a = queue.next(), let b = queue.next() else {
            Issue.record("nothing to take")
            return
        }
        // Both places are taken, and what is on its way cannot be dropped.
        let fits = queue.put("c", .essential)
        #expect(!fits)
        queue.putBack(b.ticket)
        queue.putBack(a.ticket)
        #expect(queue.drain() == ["a", "b"])
        let fitsNow = queue.put("c", .essential)
        #expect(fitsNow)
    }

    @Test func theOldestIsKnown() {
        var queue = PublicationQueue(bytes: 1 << 16, messages: 10)
        #expect(queue.oldest == nil)
        queue.put("t", .trace, now: 5)
        queue.put("e", .essential, now: 9)
        #expect(queue.oldest == 5)
    }

    /// Against a plain model, with many random steps.
    @Test(arguments: 0..<20 as Range<UInt64>) func agreesWithAPlainModel(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var queue = PublicationQueue(bytes: 20 * PagePool.pageBytes, messages: 12)
        var model: [[String]] = [[], [], []]
        var dropped = [Int](repeating: 0, count: 3)
        func pages(_ text: String) -> Int { PagePool.pages(for: text.utf8.count) }
        for step in 0..<3000 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                let priority = Priority.allCases.randomElement(using: &random) ?? .trace
                let text = "\(step) " + String(repeating: "x", count: Int.random(in: 0...4000, using: &random))
                queue.put(text, priority)
                var used: Int { model.joined().map(pages).reduce(0, +) }
                var room = true
                while used + pages(text) > 20 || model.joined().count >= 12 {
                    let victim = (priority.rawValue...2).last { !model[$0].isEmpty }
                    guard let victim else {
                        room = false
                        break
                    }
                    model[victim].removeFirst()
                    dropped[victim] += 1
                }
                if room { model[priority.rawValue].append(text) } else { dropped[priority.rawValue] += 1 }
            } else if let (text, ticket) = queue.next() {
                let line = model.firstIndex { !$0.isEmpty } ?? 0
                #expect(model[line].first == text)
                if Bool.random(using: &random) {
                    queue.putBack(ticket)
                } else {
                    model[line].removeFirst()
                    queue.release(ticket)
                }
            }
            #expect(queue.count == model.joined().count)
            #expect(queue.bytes == model.joined().map(\.utf8.count).reduce(0, +))
        }
        #expect([queue.dropped.essential, queue.dropped.state, queue.dropped.trace] == dropped)
        #expect(queue.drain() == Array(model.joined()))
    }
}

@Suite struct RetainedTableTests {
    static func header(_ topic: String) -> PublicationHeader {
        PublicationHeader(topic: topic, qos: 1, retain: true, priority: .state)
    }

    static func set(_ table: inout RetainedTable, _ topic: String, _ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { table.set(header(topic), $0) }
    }

    static func drain(_ table: inout RetainedTable) -> [String] {
        var all: [String] = []
        var bytes: [UInt8] = []
        while let (header, _) = table.take(into: &bytes) {
            all.append("\(header.topic)=\(String(decoding: bytes, as: UTF8.self))")
        }
        return all
    }

    @Test func onlyTheLatestValueIsSentInTheGivenOrder() {
        var table = RetainedTable(order: ["online", "info", "summary"])
        _ = Self.set(&table, "alert", "a1")
        _ = Self.set(&table, "summary", "s1")
        _ = Self.set(&table, "summary", "s2")
        _ = Self.set(&table, "online", "o1")
        #expect(table.replaced == 1)
        #expect(Self.drain(&table) == ["online=o1", "summary=s2", "alert=a1"])
        #expect(Self.drain(&table) == [])
        // After a connect all comes again; `info` was never set and stays away.
        table.sendAllAgain()
        #expect(Self.drain(&table) == ["online=o1", "summary=s2", "alert=a1"])
    }

    @Test func anEmptiedValueIsSentAsSuch() {
        var table = RetainedTable(order: [])
        _ = Self.set(&table, "alert", "a1")
        #expect(Self.drain(&table) == ["alert=a1"])
        _ = Self.set(&table, "alert", "")
        #expect(Self.drain(&table) == ["alert="])
        table.sendAllAgain(isKnown: true)
        #expect(Self.drain(&table) == [])
        table.sendAllAgain()
        #expect(Self.drain(&table) == ["alert="])
    }

    /// A broker that was killed may have a solved alert back: it is emptied again with every connection. What belongs to
    /// others is not.
    @Test func anEmptiedTopicOfOursIsSentAgain() {
        var table = RetainedTable(order: [], base: "s/a")
        _ = Self.set(&table, "s/a/alert", "")
        _ = Self.set(&table, "ha/device", "")
        _ = Self.set(&table, "s/ab/alert", "")
        #expect(Self.drain(&table) == ["s/a/alert=", "ha/device=", "s/ab/alert="])
        table.sendAllAgain(isKnown: true)
        #expect(Self.drain(&table) == ["s/a/alert="])
    }

    /// A table that is full takes another topic in the place of one that was emptied and sent, and of no other.
    @Test func emptiedTopicsMakeRoom() {
        var table = RetainedTable(order: [])
        for number in 0..<RetainedTable.limit { _ = Self.set(&table, "t\(number)", "a") }
        #expect(!Self.set(&table, "new", "n"))
        _ = Self.set(&table, "t7", "")
        // The broker has not been told yet.
        #expect(!Self.set(&table, "new", "n"))
        _ = Self.drain(&table)
        #expect(Self.set(&table, "new", "n"))
        #expect(!Self.set(&table, "newer", "n"))
        #expect(Self.drain(&table) == ["new=n"])
    }

    @Test func anAbandonedValueStaysAwayUntilItChanges() throws {
        var table = RetainedTable(order: [])
        _ = Self.set(&table, "config", "too big")
        var bytes: [UInt8] = []
        let first = table.take(into: &bytes)
        let taken = try #require(first)
        table.putBack(taken.ticket)
        table.abandon(taken.ticket)
        table.sendAllAgain()
        #expect(Self.drain(&table) == [])
        _ = Self.set(&table, "config", "smaller")
        #expect(Self.drain(&table) == ["config=smaller"])
    }

    /// After a connection that broke, the same value is on its way twice.
    @Test func anAbandonedValueDoesNotComeBackByItsTwin() throws {
        var table = RetainedTable(order: [])
        _ = Self.set(&table, "schema", "too big")
        var bytes: [UInt8] = []
        let first = table.take(into: &bytes)
        table.sendAllAgain()
        let second = table.take(into: &bytes)
        table.abandon(try #require(first).ticket)
        table.putBack(try #require(second).ticket)
        #expect(Self.drain(&table) == [])
    }

    @Test func topicsWithoutEndAreRefused() {
        var table = RetainedTable(order: [])
        for index in 0..<RetainedTable.limit {
            let fits = Self.set(&table, "t\(index)", "")
            #expect(fits)
        }
        let fits = Self.set(&table, "one more", "")
        #expect(!fits)
        let known = Self.set(&table, "t0", "again")
        #expect(known)
    }
}
