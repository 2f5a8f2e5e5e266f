import SignalProcessing
import Testing

@testable import Sensors

@Suite("IIO: runs without a hole") struct IIOScanReaderTests {
    private static let wall: Int64 = 1_800_000_000_000_000_000

    /// Scans of le:s16 x, y, z and a time stamp at byte 8.
    private struct Scans {
        var bytes: [UInt8] = []
        static let layout: ScanLayout = {
            let value = SampleFormat(bytes: 2, bits: 16, shift: 0, isSigned: true, isBigEndian: false)
            let stamp = SampleFormat(bytes: 8, bits: 64, shift: 0, isSigned: true, isBigEndian: false)
            return ScanLayout(
                x: .init(offset: 0, format: value), y: .init(offset: 2, format: value),
                z: .init(offset: 4, format: value), stamp: .init(offset: 8, format: stamp), step: 16)
        }()

        mutating func add(_ x: Int, stamp: Int64) {
            for value in [x, 2 * x, -x, 0] {
                withUnsafeBytes(of: Int16(truncatingIfNeeded: value).littleEndian) { bytes.append(contentsOf: $0) }
            }
            withUnsafeBytes(of: stamp.littleEndian) { bytes.append(contentsOf: $0) }
        }
    }

    /// Runs of a refill, and what was decoded.
    private func runs(_ reader: inout ScanReader, _ scans: Scans, now: ClockReading, limit: Int = 100)
        -> (runs: [ScanReader.Run], x: [Double])
    {
        var found: [ScanReader.Run] = []
        var values: [Double] = []
        var block = SampleBlock(capacity: limit)
        let count = scans.bytes.count / 16
        scans.bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let last = (base + (count - 1) * 16 + 8).loadUnaligned(as: Int64.self)
            reader.begin(now, stamp: Int64(littleEndian: last))
            var cursor = 0
            while let run = reader.run(base, Scans.layout, from: cursor, count: count, limit: limit) {
                cursor = run.end
                found.append(run)
                reader.decode(run, base, Scans.layout, into: &block)
                for index in 0..<block.count { values.append(block[0, index]) }
            }
        }
        return (found, values)
    }

    private func reader() -> ScanReader {
        var conversion = Conversion()
        conversion.scale = SIMD3(repeating: 0.5)
        return ScanReader(rate: 100, conversion: conversion)
    }

    /// What ticks are decoded to.
    private func halves(_ ticks: Range<Int>) -> [Double] { ticks.map { Double($0) * 0.5 } }

    private func now(_ tick: Int, set: Int64 = 0) -> ClockReading {
        ClockReading(monotonic: Int64(tick) * 10_000_000, wall: Self.wall + Int64(tick) * 10_000_000 + set)
    }

    private func stamp(_ tick: Int) -> Int64 { Self.wall + Int64(tick) * 10_000_000 }

    @Test("A hole ends a run; the next one says how many are missing; nothing is left out")
    func hole() {
        var reader = reader()
        var scans = Scans()
        for tick in 0..<10 { scans.add(tick, stamp: stamp(tick)) }
        for tick in 13..<20 { scans.add(tick, stamp: stamp(tick)) }
        let result = runs(&reader, scans, now: now(20))
        let expected = halves(0..<10) + halves(13..<20)
        #expect(
            result.runs == [
                .init(start: 0, count: 10, lost: 0, stamp: stamp(9)),
                .init(start: 10, count: 7, lost: 3, stamp: stamp(19)),
            ])
        #expect(result.x == expected)
    }

    @Test("A hole between two refills, and blocks that are shorter than a refill", arguments: [1, 3, 7, 100])
    func cuts(limit: Int) {
        var reader = reader()
        var lost = 0
        var values: [Double] = []
        for start in [0, 20, 45] {
            var scans = Scans()
            for tick in start..<start + 20 { scans.add(tick, stamp: stamp(tick)) }
            let result = runs(&reader, scans, now: now(start + 20), limit: limit)
            for run in result.runs {
                lost += run.lost
                #expect(run.count <= limit)
            }
            values += result.x
        }
        #expect(lost == 5)
        let expected = halves(0..<40) + halves(45..<65)
        #expect(values == expected)
    }

    @Test("Duplicates are left out and counted")
    func duplicates() {
        var reader = reader()
        var scans = Scans()
        for tick in 0..<5 { scans.add(tick, stamp: stamp(tick)) }
        scans.add(4, stamp: stamp(4))
        for tick in 5..<10 { scans.add(tick, stamp: stamp(tick)) }
        let result = runs(&reader, scans, now: now(10))
        #expect(result.x == halves(0..<10))
        #expect(result.runs.allSatisfy { $0.lost == 0 })
        #expect(reader.duplicates == 1)
    }

    @Test("A clock that is set forward is no hole, whenever it is noticed", arguments: [true, false])
    func clockSet(late: Bool) {
        var reader = reader()
        let set: Int64 = 5_000_000_000
        var lost = 0
        for block in 0..<6 {
            var scans = Scans()
            for tick in block * 10..<block * 10 + 10 {
                // Set in the middle of the third, or just after its last scan.
                let isSet = late ? tick >= 30 : tick >= 25
                scans.add(tick, stamp: stamp(tick) + (isSet ? set : 0))
            }
            let result = runs(&reader, scans, now: now(block * 10 + 10, set: block >= 2 ? set : 0))
            lost += result.runs.reduce(0) { $0 + $1.lost }
            #expect(result.x.count == 10)
        }
        #expect(lost == 0)
    }

    @Test(
        "A driver that stamps with 0, and a machine that does not know the time: stamps are of no use",
        arguments: [
            0, 1_000_000_000,
        ])
    func useless(first: Int64) {
        var reader = reader()
        var scans = Scans()
        for tick in 0..<10 { scans.add(tick, stamp: first == 0 ? 0 : first + Int64(tick) * 10_000_000) }
        let result = runs(&reader, scans, now: now(10))
        #expect(reader.hasStamps == false)
        #expect(result.runs == [.init(start: 0, count: 10, lost: 0, stamp: nil)])
        #expect(reader.duplicates == 0)
    }
}

@Suite("IIO: moments of a program that paces itself") struct IIOTickerTests {
    @Test("Lateness never adds up; who is late by whole periods leaves them out")
    func ticks() {
        var ticker = Ticker(rate: 100, now: 1000)
        func check(_ now: Int64, _ deadline: Int64, _ skipped: Int) {
            let next = ticker.next(now: now)
            #expect(next.deadline == deadline)
            #expect(next.skipped == skipped)
        }
        check(1000, 10_001_000, 0)
        check(10_500_000, 20_001_000, 0)
        // Late by less than a period: taken all the same.
        check(39_000_000, 30_001_000, 0)
        check(65_000_000, 60_001_000, 2)
        check(65_000_000, 70_001_000, 0)
    }

    @Test("Jitter is what is left of the lateness without its mean")
    func jitter() {
        var ticker = Ticker(rate: 100, now: 0)
        for index in 0..<1000 {
            let deadline = ticker.next(now: 0).deadline
            ticker.taken(deadline + (index % 2 == 0 ? 3_000_000 : 1_000_000))
        }
        #expect(abs(ticker.jitter.deviation - 1_000_000) < 1000)
        #expect(abs(ticker.jitter.worst - 1_000_000) < 3000)
    }

    @Test(
        "Decimal integers as the kernel writes them",
        arguments: [
            ("-1024\n", -1024), ("0\n", 0), ("32767", 32767), ("12 3", 12), ("\n", nil), ("-", nil), ("x", nil),
        ] as [(String, Int64?)])
    func integers(text: String, value: Int64?) {
        #expect(Array(text.utf8).withUnsafeBytes { RawValues.integer($0) } == value)
    }
}
