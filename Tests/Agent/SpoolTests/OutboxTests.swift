import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

@Suite struct OutboxTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Every field of a message comes back, over a restart too.
    @Test func aMessageComesBackAsItWas() throws {
        var full = PublicationHeader(
            topic: "schüle/a/event/trigger", qos: 1, retain: true, contentType: .mseed, expiry: 3600,
            priority: .essential)
        full.event = EventMark(id: "a-20260101t000000000Z", part: .waveform)
        full.isHistory = true
        let plain = PublicationHeader(topic: "t", qos: 0, retain: false, contentType: .text, priority: .essential)
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var spool = try folder.open()
        #expect(spool.setAside == nil)
        let first = try spool.put(full, bytes, made: newYear + 1)
        let second = try spool.put(plain, [], made: -5)
        try spool.close()
        var again = try folder.open()
        #expect(again.setAside == nil)
        let found = try again.next(.essential)
        #expect(found.map(\.key) == [first, second])
        #expect(found.first?.header == full && found.first?.payload == bytes && found.first?.made == newYear + 1)
        #expect(found.last?.header == plain && found.last?.payload == [] && found.last?.made == -5)
    }

    /// The first class by itself, the others together, each in the order in which they were put.
    @Test func orderAndLimits() throws {
        var spool = try folder.open()
        var keys: [Int64] = []
        for (index, priority) in [Priority.trace, .essential, .state, .trace, .essential, .state].enumerated() {
            keys.append(try spool.put(.of(priority), "\(index)"))
        }
        #expect(keys == keys.sorted() && Set(keys).count == 6)
        #expect(try spool.texts(.essential) == ["1", "4"])
        #expect(try spool.texts(.rest) == ["0", "2", "3", "5"])
        #expect(try spool.texts(.rest, after: keys[2]) == ["3", "5"])
        #expect(try spool.next(.rest, messages: 2).count == 2)
        // By bytes, but always one.
        #expect(try spool.next(.rest, bytes: 3).count == 3)
        #expect(try spool.next(.rest, bytes: 0).count == 1)
        #expect(try spool.next(.rest, messages: 0).isEmpty)
    }

    /// What was refused for too long counts as dropped, over a restart too.
    @Test func whatIsGivenUpIsCounted() throws {
        var spool = try folder.open()
        let reply = try spool.put(.of(.essential), "reply")
        let onset = try spool.put(.of(.essential, event: "e", part: .onset), "onset")
        try spool.giveUp(reply)
        try spool.giveUp(onset)
        try spool.giveUp(onset)
        #expect(try spool.texts(.essential) == [])
        try spool.close()
        var again = try folder.open()
        #expect(again.statistics.dropped.essential == 2)
        #expect(again.statistics.messages.essential == 0)
        #expect(again.statistics.keptMessages == 1)
    }

    /// Delivered messages are gone; those of events are kept, and do not wait any more.
    @Test func settledMessagesDoNotWait() throws {
        var spool = try folder.open()
        let reply = try spool.put(.of(.essential), "reply")
        let onset = try spool.put(.of(.essential, event: "e", part: .onset), "onset")
        let chunk = try spool.put(.of(.essential, event: "e", part: .waveform), "chunk")
        let end = try spool.put(.of(.essential, event: "e", part: .end), "end")
        let trace = try spool.put(.of(.trace), "trace")
        let before = spool.statistics
        #expect(before.messages.essential == 4 && before.messages.trace == 1 && before.oldestMade == newYear)
        #expect(before.bytes.trace == 5 + 12 + 64)
        for key in [reply, onset, chunk, trace] { #expect(try spool.settle(key, .delivered)) }
        #expect(try spool.settle(end, .refused(reason: 0x97)))
        for key in [reply, onset, end, trace, 0, -1, 99_999] { #expect(try !spool.settle(key, .delivered)) }
        #expect(try spool.texts(.essential).isEmpty && spool.texts(.rest).isEmpty)
        let after = spool.statistics
        #expect(after.messages.total == 0 && after.bytes.total == 0 && after.oldestMade == nil)
        #expect(after.keptMessages == 3 && after.dropped.total == 0)
        #expect(after.keptBytes == 5 + 5 + 3 + 3 * (12 + 64))
        try spool.close()
        // Counted anew from the file.
        var again = try folder.open()
        let counted = again.statistics
        #expect(counted.keptMessages == 3 && counted.keptBytes == after.keptBytes && counted.messages.total == 0)
    }

    /// A number that was given is never given again, whatever becomes of the messages and of the process.
    @Test func numbersAreNeverUsedAgain() throws {
        var highest: Int64 = 0
        for run in 0..<6 {
            var spool = try folder.open()
            for index in 0..<(run == 2 ? 5000 : 3) {
                let key = try spool.put(.of(Priority.allCases[index % 3]), "m")
                #expect(key > highest)
                highest = key
                try spool.settle(key, .delivered)
            }
            if run == 3 {
                // Undone, and still not given again.
                highest = try spool.put(.of(.trace), "m")
                #expect(throws: SpoolError.self) {
                    try spool.put(.of(.trace), [UInt8](repeating: 0, count: 40_000_000))
                }
                #expect(try spool.put(.of(.trace), "m") > highest)
                highest += 4
            }
            if run == 4 {
                try spool.recover()
                let key = try spool.put(.of(.trace), "m")
                #expect(key > highest)
                highest = key
            }
            try spool.commit()
        }
    }

    /// An error undoes what was not committed, in the file and in the figures.
    @Test func whatFailsIsUndone() throws {
        var spool = try folder.open(budget: 8_000_000)
        try spool.put(.of(.state), "kept")
        try spool.appendSegment(start: newYear)
        try spool.commit()
        try spool.put(.of(.state), "undone")
        try spool.appendSegment(start: newYear + 10 * second)
        do throws(SpoolError) {
            let large = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000_000, alignment: 1)
            defer { large.deallocate() }
            _ = try spool.put(.of(.state), UnsafeRawBufferPointer(large), made: 0)
            Issue.record("a message larger than a sixteenth of the budget was taken")
        } catch {
            #expect(!error.isDamage && !error.isFull && error.file == folder.database)
            #expect(error.description.hasSuffix("spool.db: a message of 1000000 bytes (SQLite 18)"))
        }
        #expect(try spool.texts(.rest) == ["kept"])
        #expect(spool.statistics.messages.state == 1 && spool.statistics.ringSegments == 1)
        #expect(spool.segments(from: .min, to: .max).count == 1)
    }

    /// A second agent in the same folder is told so, and does no harm.
    @Test func oneProcessOnly() throws {
        var spool = try folder.open()
        try spool.put(.of(.essential), "m")
        do throws(SpoolError) {
            _ = try Spool.open(folder.options(), now: newYear)
            Issue.record("opened twice")
        } catch {
            #expect(error.text == "another process has this spool open" && error.file.hasSuffix("spool.lock"))
        }
        #expect(try spool.texts(.essential) == ["m"])
    }

    @Test func factsAreRemembered() throws {
        var spool = try folder.open()
        try spool.setFact("reply.1", [1, 2])
        try spool.setFact("reply.2", [])
        try spool.setFact("revision", [9])
        try spool.setFact("reply.1", [0, 255])
        try spool.setFact("revision", nil)
        try spool.close()
        var again = try folder.open()
        #expect(try again.fact("reply.1") == [0, 255])
        #expect(try again.fact("reply.2") == [])
        #expect(try again.fact("revision") == nil)
        #expect(try again.facts(beginningWith: "reply.") == ["reply.1", "reply.2"])
    }

    /// Of too many the oldest events lose theirs, whatever the names of their stations.
    @Test func labelsStayWithTheirEvents() throws {
        var spool = try folder.open()
        try spool.setLabel("door", of: "b-20260105T102030120Z")
        try spool.setLabel("truck", of: "b-20260105T102030120Z")
        try spool.setLabel("earthquake", of: "a-20260105T102030121Z")
        try spool.setLabel("wind", of: "a-20260105T102030122Z")
        try spool.setLabel(nil, of: "a-20260105T102030122Z")
        try spool.close()
        var again = try folder.open()
        #expect(try again.labels() == ["b-20260105T102030120Z": "truck", "a-20260105T102030121Z": "earthquake"])
        try again.setNote(.confirmation, "true net-1", of: "b-20260105T102030120Z")
        #expect(try again.note(.confirmation, of: "b-20260105T102030120Z") == "true net-1")
        #expect(try again.notes(.confirmation).count == 1)
        try again.setLabel("bus", of: "a-20260106T000000000Z", most: 2)
        #expect(try again.labels() == ["a-20260105T102030121Z": "earthquake", "a-20260106T000000000Z": "bus"])
    }
}
