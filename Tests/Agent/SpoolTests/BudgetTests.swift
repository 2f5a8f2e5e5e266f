import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

@Suite struct SpoolBudgetTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var size: Int {
        ["", "-wal"].reduce(0) { sum, tail in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder.database + tail)
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }

    /// Delivered events go first, then the oldest traces, then the oldest summaries; what is essential and waits stays.
    /// Every message that went is counted.
    @Test func theLeastImportantGoesFirst() throws {
        let budget = 8_000_000
        var spool = try folder.open(budget: budget)
        for index in 0..<200 {
            let key = try spool.put(.of(.essential, event: "old\(index)"), [UInt8](repeating: 1, count: 2000))
            try spool.settle(key, .delivered)
        }
        for index in 0..<200 { try spool.put(.of(.essential, event: "new"), "essential \(index)") }
        for index in 0..<100 {
            try spool.put(.of(.state), Array("state \(index)".utf8) + [UInt8](repeating: 0, count: 2000))
        }
        try spool.commit()
        #expect(spool.statistics.keptMessages == 200)
        for index in 0..<6000 {
            try spool.put(.of(.trace), Array("\(index)".utf8) + [UInt8](repeating: 0, count: 2000))
            if index % 10 == 0 { try spool.commit() }
            if index % 500 == 0 { #expect(size <= budget) }
        }
        try spool.commit()
        var now = spool.statistics
        #expect(now.keptMessages == 0)
        #expect(now.dropped.essential == 0 && now.dropped.state == 0 && now.dropped.trace > 3000)
        #expect(now.messages.trace + now.dropped.trace == 6000)
        #expect(now.messages.state == 100 && now.messages.essential == 200)
        let traces = try spool.next(.rest).filter { $0.header.priority == .trace }
        #expect(traces.count == now.messages.trace)
        #expect(traces.first?.payload.starts(with: "\(now.dropped.trace)".utf8) == true)

        // What is essential pushes the others out, traces first.
        for index in 0..<1200 {
            try spool.put(
                .of(.essential, event: "e", part: .waveform), [UInt8](repeating: UInt8(index % 256), count: 2000))
            if index % 10 == 0 { try spool.commit() }
            let dropped = spool.statistics.dropped
            #expect(dropped.state == 0 || spool.statistics.messages.trace == 0)
            #expect(dropped.essential == 0 || spool.statistics.messages.state == 0)
        }
        try spool.commit()
        now = spool.statistics
        #expect(now.messages.trace == 0 && now.messages.state == 0)
        #expect(now.dropped.trace == 6000 && now.dropped.state == 100)
        #expect(now.messages.essential + now.dropped.essential == 1400)
        // Of the essential ones the waveforms go, not the messages of the event.
        #expect(now.dropped.essential > 0)
        let texts = try spool.texts(.essential)
        #expect(texts.filter { $0.hasPrefix("essential ") }.count == 200)
        #expect(size <= budget)

        // Now the others find no room, and push nothing out.
        try spool.put(.of(.trace), [UInt8](repeating: 0, count: 20_000))
        try spool.put(.of(.state), [UInt8](repeating: 0, count: 20_000))
        try spool.appendSegment(start: newYear, bytes: 20_000)
        try spool.commit()
        #expect(spool.statistics.dropped.trace == 6001 && spool.statistics.dropped.state == 101)
        #expect(spool.statistics.dropped.essential == now.dropped.essential && spool.statistics.ringSegments == 0)
        now = spool.statistics

        // The figures are those of the file, and survive a restart.
        let copy = try folder.killed()
        var again = try copy.open(budget: budget)
        let counted = again.statistics
        #expect(counted.messages == now.messages)
        #expect(counted.bytes == now.bytes)
        #expect(counted.dropped == now.dropped)
    }

    /// What was dropped is really the oldest, and what comes later is all there.
    @Test func aSmallerBudgetIsReachedInSteps() throws {
        var spool = try folder.open(budget: 64_000_000)
        for index in 0..<8000 {
            try spool.put(.of(.trace), Array("\(index) ".utf8) + [UInt8](repeating: 0, count: 2000))
        }
        try spool.commit()
        #expect(spool.statistics.dropped.total == 0)
        try spool.reconfigure(folder.options(budget: 8_000_000))
        var calls = 0
        while try !spool.trim(now: newYear) {
            try spool.commit()
            calls += 1
            try #require(calls < 100)
        }
        let now = spool.statistics
        #expect(now.messages.trace + now.dropped.trace == 8000 && now.dropped.trace > 5000)
        let first = try #require(try spool.next(.rest, messages: 1).first)
        #expect(first.payload.starts(with: "\(now.dropped.trace) ".utf8))
    }

    /// The ring takes its part of the budget and no more.
    @Test func theRingHasABoundOfItsOwn() throws {
        var spool = try folder.open(budget: 8_000_000, ring: 86_400)
        try spool.put(.of(.trace), "trace")
        for index in 0..<2000 { try spool.appendSegment(start: newYear + Int64(index) * 10 * second) }
        try spool.commit()
        #expect(
            spool.statistics.ringBytes > 800_000 && spool.statistics.ringBytes <= folder.options(budget: 0).ringBytes)
        #expect(spool.statistics.dropped.total == 0)
        #expect(size <= 8_000_000)
    }

    /// The log does not grow when nobody calls `checkpoint`, and pages that are free are used again.
    @Test func theFilesDoNotGrow() throws {
        var spool = try folder.open()
        var largest = 0
        for index in 0..<3000 {
            let key = try spool.put(.of(.trace), [UInt8](repeating: UInt8(index % 256), count: 3000))
            try spool.commit()
            try spool.settle(key, .delivered)
            try spool.commit()
            largest = max(largest, size)
        }
        #expect(largest < 5_000_000)
        #expect(spool.statistics.fileBytes < 200_000)
        for index in 0..<300 { try spool.put(.of(.trace), [UInt8](repeating: UInt8(index % 256), count: 3000)) }
        try spool.checkpoint()
        #expect(spool.statistics.logBytes == 0)
    }

    /// A log that was made durable is on the disk; the call can be made at any time.
    @Test func durability() throws {
        var spool = try folder.open()
        try spool.makeDurable()
        try spool.put(.of(.essential), "m")
        try spool.makeDurable()
        try spool.checkpoint()
        try spool.makeDurable()
        let copy = try folder.killed()
        var again = try copy.open()
        #expect(try again.texts(.essential) == ["m"])
    }
}
