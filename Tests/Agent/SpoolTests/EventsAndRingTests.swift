import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

@Suite struct EventsInTheSpoolTests {
    /// An event without an end is found after a kill, with its newest trigger message and its waveform in order.
    @Test func unfinishedEventsAreFound() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        for (event, parts) in [
            ("a", [EventMark.Part.onset, .waveform, .update, .end]),
            ("b", [.onset, .waveform, .update, .waveform, .update]),
            ("c", [.onset]), ("d", [.waveform]), ("e", [.end]),
        ] {
            for (index, part) in parts.enumerated() {
                let key = try spool.put(
                    .of(.essential, event: event, part: part), "\(event)\(index)", made: newYear + Int64(index))
                // Delivered or not makes no difference.
                if index % 2 == 0 { try spool.settle(key, .delivered) }
            }
        }
        try spool.commit()
        let copy = try folder.killed()
        var again = try copy.open()
        let events = try again.unfinishedEvents()
        #expect(events.map(\.id) == ["b", "c"])
        #expect(events.map { String(decoding: $0.trigger.payload, as: UTF8.self) } == ["b4", "c0"])
        #expect(events.first?.trigger.header.event == EventMark(id: "b", part: .update))
        #expect(events.first?.trigger.made == newYear + 4)
        var chunks: [String] = []
        try again.forEachWaveform(of: "b") { chunks.append(String(decoding: $0.payload, as: UTF8.self)) }
        #expect(chunks == ["b1", "b3"])
        let last = try again.lastEnd()
        #expect(last.map { String(decoding: $0.payload, as: UTF8.self) } == "e0")
        try again.put(.of(.essential, event: "b", part: .end), "closed")
        #expect(try again.unfinishedEvents().map(\.id) == ["c"])
        let closed = try again.lastEnd()
        #expect(closed.map { String(decoding: $0.payload, as: UTF8.self) } == "closed")
    }

    /// A recording that is played again gives its events the same ids: one that a kill interrupted the second time counted
    /// as finished, because the first one has an end, and its waveform began with that of the first.
    @Test func anEventThatComesAgainUnderItsIdIsUnfinishedAgain() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        func put(_ parts: [EventMark.Part], _ round: Int) throws {
            for (index, part) in parts.enumerated() {
                try spool.put(.of(.essential, event: "a", part: part), "\(round) \(index)")
            }
        }
        try put([.onset, .waveform, .update, .waveform, .end], 1)
        #expect(try spool.unfinishedEvents().isEmpty)
        try put([.onset, .waveform, .update, .waveform], 2)
        #expect(try spool.unfinishedEvents().map { String(decoding: $0.trigger.payload, as: UTF8.self) } == ["2 2"])
        var chunks: [String] = []
        try spool.forEachWaveform(of: "a") { chunks.append(String(decoding: $0.payload, as: UTF8.self)) }
        #expect(chunks == ["2 1", "2 3"])
        try put([.end], 2)
        #expect(try spool.unfinishedEvents().isEmpty)
    }

    @Test func withoutEventsThereIsNothing() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        #expect(try spool.unfinishedEvents().isEmpty)
        let last = try spool.lastEnd()
        #expect(last == nil)
    }

    /// Delivered events go when they are old enough; those that wait do not. What is deleted is counted, over restarts too.
    @Test func eventsAreKeptForAWhile() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open(keep: 86_400, now: 0)
        let old = try spool.put(.of(.essential, event: "a"), "a", made: newYear)
        try spool.put(.of(.essential, event: "b"), "waits", made: newYear)
        #expect(try spool.trim(now: hour))
        let young = try spool.put(.of(.essential, event: "c"), "c", made: newYear)
        try spool.settle(old, .delivered)
        try spool.settle(young, .delivered)
        #expect(try spool.trim(now: day))
        #expect(spool.statistics.keptMessages == 2)
        // (Of 25 hours from the look that has seen it first.)
        #expect(try spool.trim(now: day + hour))
        #expect(spool.statistics.keptMessages == 1 && spool.statistics.deletedForAge == 1)
        #expect(spool.statistics.messages.essential == 1 && spool.statistics.dropped.total == 0)
        try spool.close()
        // While it is closed nothing grows older, and the clock of the next process begins anywhere.
        var again = try folder.open(keep: 86_400, now: 99 * day)
        #expect(again.statistics.keptMessages == 1 && again.statistics.deletedForAge == 1)
        #expect(try again.trim(now: 100 * day))
        #expect(again.statistics.keptMessages == 0 && again.statistics.deletedForAge == 2)
    }

    /// Defect: with a clock 19.6 years ahead (the week number of GPS) all delivered events were deleted, 64 messages a minute.
    /// The dates of messages are of no matter: ahead, in the past, and both in turn.
    @Test(arguments: [0, 1024 * 7 * day, -1024 * 7 * day, .max / 2 - newYear, -newYear])
    func aWrongClockOfTheDayDeletesNothing(by error: Int64) throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open(now: 0)
        for index in 0..<300 {
            let made = newYear + (index % 3 == 1 ? error : 0)
            let key = try spool.put(.of(.essential, event: "e\(index)"), "x", made: made)
            try spool.settle(key, .delivered)
            try spool.trim(now: Int64(index) * hour)
        }
        #expect(spool.statistics.keptMessages == 300 && spool.statistics.deletedForAge == 0)
        // And what was dated ahead is not kept for ever.
        for hours in 300..<(31 * 24 + 16) { try spool.trim(now: Int64(hours) * hour) }
        #expect(spool.statistics.deletedForAge > 0 && spool.statistics.deletedForAge < 40)
        for hours in (31 * 24)..<(44 * 24) { try spool.trim(now: Int64(hours) * hour) }
        #expect(spool.statistics.keptMessages == 0 && spool.statistics.deletedForAge == 300)
    }

    @Test func whatGoesForWantOfRoomIsCounted() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open(budget: 8_000_000, ring: 0)
        let payload = [UInt8](repeating: 7, count: 60_000)
        for index in 0..<200 {
            let key = try spool.put(.of(.essential, event: "e\(index)"), payload)
            try spool.settle(key, .delivered)
            try spool.commit()
        }
        let statistics = spool.statistics
        #expect(statistics.deletedForRoom > 50 && statistics.deletedForRoom + statistics.keptMessages == 200)
        #expect(statistics.deletedForAge == 0 && statistics.dropped.total == 0)
        try spool.close()
        var again = try folder.open(budget: 8_000_000, ring: 0)
        #expect(again.statistics.deletedForRoom == statistics.deletedForRoom)
    }
}

/// Ages by themselves: as numbers of a file they may be anything.
@Suite struct MessageAgesTests {
    @Test(arguments: [[], [-1], [5, 1], [5, 1, 9], [5, 1, 2, 0, 3], [5, 4, 3, 2, 1], [.min], [.max]] as [[Int64]])
    func numbersThatMakeNoSenseBeginAnew(numbers: [Int64]) {
        var ages = MessageAges(numbers)
        for step in 0..<3 { _ = ages.look(now: step == 2 ? .max : .min, next: 10, keep: day) }
        #expect(ages.age(of: 9) >= 0 && ages.ran >= 0)
        #expect(ages.numbers.count <= 129 && MessageAges(ages.numbers).numbers == ages.numbers)
    }

    @Test func marksAreFewAndSavesAreRare() {
        var ages = MessageAges()
        var saves = 0
        for minute in 0..<(90 * 1440) {
            if ages.look(now: Int64(minute) * 60 * second, next: Int64(minute), keep: 30 * day) { saves += 1 }
        }
        #expect(ages.numbers.count <= 105 && saves <= 90 * 24 + 150)
        let age = ages.age(of: Int64(60 * 1440))
        #expect(age <= 30 * day && age >= 29 * day)
        let limit = ages.limit(age: 30 * day) ?? 0
        #expect(limit <= 60 * 1440 && limit >= 59 * 1440)
    }

    /// Of the marks that are old enough the youngest: the number that the messages below have reached that age.
    @Test func ofSeveralMarksThatAreOldEnoughTheYoungestCounts() {
        var ages = MessageAges()
        for hour in 0..<20 { _ = ages.look(now: Int64(hour) * 3600 * second, next: Int64(100 + hour), keep: 2 * day) }
        #expect(ages.limit(age: 5 * 3600 * second) == 114)
        #expect(ages.limit(age: 19 * 3600 * second) == 100)
        #expect(ages.limit(age: 20 * 3600 * second) == nil)
        #expect(ages.limit(age: 0) == .max)
    }
}

@Suite struct RingTests {
    @Test func theRingHoldsItsTimeAndGivesWhatOverlaps() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open(ring: 60)
        for index in 0..<20 { try spool.appendSegment(start: newYear + Int64(index) * 10 * second) }
        let all = spool.segments(from: .min, to: .max)
        #expect(all.map(\.start) == (14..<20).map { newYear + $0 * 10 * second })
        let some = spool.segments(from: newYear + 159 * second, to: newYear + 170 * second)
        #expect(some.map(\.start) == [150, 160, 170].map { newYear + $0 * second })
        #expect(spool.segments(from: newYear, to: newYear + 100 * second).isEmpty)
        let piece = try #require(some.first)
        #expect(try spool.records(of: piece) == [UInt8](repeating: piece.firstByte, count: 4000))
        #expect(piece.samples == 1000 && piece.rate == 100 && piece.miniSEED == .v3 && piece.bytes == 4000)
        #expect(spool.statistics.ringSegments == 6 && spool.statistics.ringBytes == 24_000)
        #expect(spool.statistics.ringSeconds == 60)
        try spool.close()
        var again = try folder.open(ring: 60)
        #expect(again.segments(from: .min, to: .max) == all)
        #expect(try again.records(of: piece)?.count == 4000)
        // A piece that went meanwhile.
        for index in 20..<40 { try again.appendSegment(start: newYear + Int64(index) * 10 * second) }
        #expect(try again.records(of: piece) == nil)
    }

    /// A clock that is set back or forward a day loses nothing that was recorded within the ring's time, and the ring
    /// does not grow.
    @Test(arguments: [-day, day, 100 * 365 * day]) func aClockThatIsSet(by step: Int64) throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open(ring: 100)
        for index in 0..<30 {
            let offset = index >= 15 ? step : 0
            try spool.appendSegment(start: newYear / 2 + Int64(index) * 10 * second + offset)
            #expect(spool.newestSegment?.start == newYear / 2 + Int64(index) * 10 * second + offset)
            #expect(spool.segments(from: .min, to: .max).count == min(index + 1, 10))
        }
    }

    /// Pieces without length, with absurd times or rates: the ring has an end all the same.
    @Test func absurdPieces() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open(budget: 8_000_000, ring: 86_400)
        for rate in [0.0, -1, .nan, .infinity, 1e300] {
            for index in 0..<100 {
                let segment = RingSegment(
                    start: .max, end: .min, samples: index % 2 == 0 ? .max : 0, rate: rate, format: .v2)
                try spool.appendSegment(segment, [UInt8](repeating: 1, count: 20_000))
            }
        }
        #expect(spool.statistics.ringBytes <= folder.options(budget: 8_000_000).ringBytes)
        #expect(spool.statistics.ringSegments > 10)
        #expect(spool.newestSegment?.miniSEED == .v2)
    }

    /// What a flash card turns over in a row, in what it says of its records too, is not given out as if it were recorded;
    /// nor is a row whose end reads as nothing.
    @Test(arguments: [
        "start = start + 1", "finish = finish - 1", "samples = samples + 1", "rate = 99", "format = 5 - format",
        "records = x'00'", "records = x'', sum = 0", "sum = sum + 1",
    ])
    func aPieceThatIsNotAsWrittenIsNotGivenOut(change: String) throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        try spool.appendSegment(start: newYear)
        try spool.commit()
        let newest = spool.newestSegment
        let whole = try spool.records(of: #require(newest))
        #expect(whole?.count == 4000)
        try spool.database.execute("UPDATE ring SET \(change)")
        try spool.close()
        var again = try folder.open()
        let found = again.newestSegment
        #expect(found == nil && again.statistics.damagedOthers == 1)
        #expect(again.setAsideFile?.kind == .rows)
    }

    @Test func aRingThatIsOffKeepsNothing() throws {
        let folder = try TemporaryFolder()
        var spool = try folder.open(ring: 60)
        try spool.appendSegment(start: newYear)
        try spool.reconfigure(folder.options(ring: 0))
        try spool.trim(now: newYear)
        try spool.appendSegment(start: newYear)
        #expect(spool.statistics.ringSegments == 0 && spool.newestSegment == nil)
    }
}

extension RingSegment {
    fileprivate var firstByte: UInt8 { UInt8(truncatingIfNeeded: start / second) }
}
