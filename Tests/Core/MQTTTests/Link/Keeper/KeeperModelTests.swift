import Messages
import TestSupport
import Testing

@testable import MQTT

/// Many random steps of publisher, keeper and broker: every essential message ends in exactly one way, none is lost
/// without being counted, and the disk's keys come back in order.
@Suite struct KeeperModelTests {
    @Test(arguments: 0..<40 as Range<UInt64>) func nothingIsLostAndNothingEndsTwice(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var world = World()
        for _ in 0..<2000 { world.step(&random) }
        world.finish()
        #expect(world.problems == [])
        // Every message that was made is delivered, or counted as dropped.
        let missing = world.made - world.delivered.count
        #expect(missing == Int(world.queue.dropped.essential))
        #expect(world.disk.isEmpty)
        #expect(world.queue.count == 0)
        #expect(world.queue.bytes == 0)
        #expect(world.queue.unkept.count == 0)
    }

    struct World: ~Copyable {
        var queue = PublicationQueue(bytes: 24 * PagePool.pageBytes, messages: 16, keepsEssential: true)
        var now: UInt64 = 0
        var made = 0
        var delivered: Set<Int> = []
        /// Key to number of the message.
        var disk: [Int64: Int] = [:]
        /// On disk and not in memory.
        var away: Set<Int64> = []
        var lastKey: Int64 = 0
        var asked: [(ticket: KeepTicket, number: Int)] = []
        var inFlight: [(ticket: Int, number: Int)] = []
        var problems: [String] = []
        var bytes: [UInt8] = []

        var number: Int { Int(String(decoding: bytes.prefix { $0 != 32 }, as: UTF8.self)) ?? -1 }

        mutating func step(_ random: inout SplitMix64) {
            now += UInt64.random(in: 0...100_000_000, using: &random)
            switch Int.random(in: 0..<15, using: &random) {
            case 0..<4: publish(Int.random(in: 0...3000, using: &random))
            case 4, 5: ask()
            case 6, 7: if !asked.isEmpty { answer(Int.random(in: 0..<10, using: &random) > 0) }
            case 8, 9: send()
            case 10: if !inFlight.isEmpty { end(Int.random(in: 0..<inFlight.count, using: &random)) }
            case 11: recall()
            case 12: offer()
            case 13: if Int.random(in: 0..<8, using: &random) == 0 { loseDisk() }
            default:
                if Int.random(in: 0..<10, using: &random) == 0 { queue.setOverflow(Bool.random(using: &random)) }
            }
            settle()
        }

        mutating func publish(_ padding: Int) {
            var header = PublicationHeader(topic: "e", qos: 1, retain: false, priority: .essential)
            let text = "\(made) " + String(repeating: "x", count: padding)
            _ = Array(text.utf8).withUnsafeBytes { queue.append(header, $0, now: now) }
            made += 1
            header = PublicationHeader(topic: "t", qos: 1, retain: false, priority: .trace)
            if made % 3 == 0 { _ = Array("-5 trace".utf8).withUnsafeBytes { queue.append(header, $0, now: now) } }
        }

        mutating func ask() {
            guard let (_, _, ticket) = queue.takeUnkept(into: &bytes) else { return }
            asked.append((ticket, number))
        }

        mutating func answer(_ good: Bool) {
            let (ticket, number) = asked.removeFirst()
            guard good else { return queue.cannotKeep(ticket) }
            lastKey += 1
            switch queue.markKept(ticket, key: lastKey) {
            case .waiting: disk[lastKey] = number
            case .settled(.displaced):
                disk[lastKey] = number
                away.insert(lastKey)
            case .settled(.delivered), .settled(.abandoned): break
            case .settled(let outcome): problems.append("\(number) ended with \(outcome)")
            }
        }

        mutating func send() {
            let next = queue.take(into: &bytes, now: now) ?? queue.takeBackfill(into: &bytes, now: now)
            guard let (_, ticket) = next else { return }
            inFlight.append((ticket, number))
        }

        mutating func end(_ index: Int) {
            let (ticket, number) = inFlight.remove(at: index)
            if number >= 0, !delivered.insert(number).inserted { problems.append("\(number) was delivered twice") }
            queue.release(ticket, .delivered)
        }

        mutating func recall() {
            for (ticket, _) in inFlight.reversed() { queue.putBack(ticket) }
            inFlight.removeAll()
        }

        mutating func offer() {
            guard let key = away.min(), let number = disk[key] else { return }
            let header = PublicationHeader(topic: "h", qos: 1, retain: false, priority: .essential)
            let taken = Array("\(number) old".utf8).withUnsafeBytes {
                queue.offerBackfill(header, key: key, $0, now: now)
            }
            if taken { away.remove(key) }
        }

        /// Another disk, onto which all goes over that is not in memory.
        mutating func loseDisk() {
            while !asked.isEmpty { answer(false) }
            for key in queue.keptKeys { disk[key] = nil }
            queue.keepAgain(all: true)
            away = Set(disk.keys)
        }

        mutating func settle() {
            var all: [Settlement] = []
            queue.takeSettled(into: &all)
            for settlement in all {
                guard let number = disk[settlement.key] else {
                    problems.append("key \(settlement.key) is not on disk")
                    continue
                }
                switch settlement.outcome {
                case .delivered:
                    disk[settlement.key] = nil
                    if !delivered.contains(number) { problems.append("\(number) is said to be delivered") }
                case .displaced: away.insert(settlement.key)
                default: problems.append("\(number) ended with \(settlement.outcome)")
                }
            }
        }

        mutating func finish() {
            for _ in 0..<100_000 {
                now += 200_000_000
                ask()
                if !asked.isEmpty { answer(true) }
                queue.setOverflow(false)
                offer()
                send()
                if !inFlight.isEmpty { end(0) }
                settle()
                if queue.count == 0, queue.unkept.count == 0, disk.isEmpty, asked.isEmpty, inFlight.isEmpty { return }
            }
            problems.append("does not come to an end")
        }
    }
}
