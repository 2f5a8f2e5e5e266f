import CMiniSEED
import Foundation
import TestSupport
import Testing

@testable import MiniSEED

/// The error that a body ends with.
func miniSEEDError(_ body: () throws -> Void) -> MiniSEEDError? {
    do {
        try body()
        return nil
    } catch {
        return error as? MiniSEEDError
    }
}

@Suite struct WriterTests {
    static let source = SourceIdentifier(network: "XX", station: "BASE", location: "00", channel: "HNZ")
    static let start: Int64 = 1_767_608_430_123_456_789

    /// Steim2 has differences of at most 30 bits: a record ends before one that has more.
    @Test(
        arguments: [
            (536_870_911, 3), (536_870_912, 1), (-536_870_912, 3), (-536_870_913, 1), (Int32.max, 1), (Int32.min, 1),
        ] as [(Int32, Int)]) func aRecordEndsBeforeADifferenceThatDoesNotFit(step: Int32, count: Int)
    {
        var frames = [Int32](repeating: 0, count: 4 * Steim.frameWords)
        let encoded = [0, step, step].withUnsafeBufferPointer { samples in
            frames.withUnsafeMutableBufferPointer { Steim.encode2(samples, first: 0, into: $0) }
        }
        #expect(encoded == count)
    }

    /// A walk whose steps take every length from one bit to thirty.
    static func walk(_ count: Int, seed: UInt64) -> [Int32] {
        var numbers = SplitMix64(state: seed)
        var value: Int64 = 0
        return (0..<count).map { index in
            let bits = 1 + index / 37 % 30
            let step = Int64(numbers.next() >> (64 - UInt64(bits))) - 1 << (bits - 1)
            value = min(max(value + step, -(1 << 30)), 1 << 30)
            return Int32(value)
        }
    }

    static func joined(_ bytes: [UInt8]) throws -> [Int32] {
        try ReferenceFiles.records(bytes).flatMap { record in
            guard case .integers(let values) = record.samples else { return [Int32]() }
            return values
        }
    }

    @Test(arguments: MiniSEEDFormat.allCases, [1, 2, 7, 100, 5000])
    func samplesComeBack(format: MiniSEEDFormat, count: Int) throws {
        let samples = Self.walk(count, seed: UInt64(count))
        for length in [256, 512, 4096, 65536] {
            var writer = try MiniSEEDWriter(format: format, recordLength: length)
            let bytes = try writer.encode(samples, start: Self.start, rate: 100, source: Self.source)
            #expect(try Self.joined(bytes) == samples)
            #expect(try ReferenceFiles.records(bytes).allSatisfy { $0.header.source == Self.source })
        }
    }

    @Test(arguments: [100, 31.25, 200.0 / 3, 0.1, 1000, 30, 100.0123, 40000])
    func ratesAndTimesComeBack(rate: Double) throws {
        let samples = Self.walk(4000, seed: 5)
        for format in MiniSEEDFormat.allCases {
            var writer = try MiniSEEDWriter(format: format, recordLength: 1024)
            let records = try ReferenceFiles.records(
                writer.encode(samples, start: Self.start, rate: rate, source: Self.source))
            #expect(records.count > 3)
            var index = 0
            for record in records {
                #expect(abs(record.header.rate / rate - 1) < (format == .v3 ? 1e-15 : 1e-7))
                let exact = Self.start + Int64((Double(index) / rate * 1e9).rounded())
                #expect(abs(record.header.start - exact) <= (format == .v3 ? 1 : 500))
                index += record.samples.count
            }
            #expect(index == samples.count)
        }
    }

    @Test func firstSampleKeepsItsTime() throws {
        for (format, expected) in [(MiniSEEDFormat.v3, Self.start), (.v2, 1_767_608_430_123_457_000)] {
            var writer = try MiniSEEDWriter(format: format)
            let records = try ReferenceFiles.records(
                writer.encode([1, 2, 3], start: Self.start, rate: 100, source: Self.source))
            #expect(records.map(\.header.start) == [expected])
        }
    }

    /// libmseed's own public reader is the judge of our miniSEED 2.
    @Test func libmseedReadsVersion2() throws {
        for rate in [100, 31.25, 100.0123] {
            let samples = Self.walk(3000, seed: 9)
            var writer = try MiniSEEDWriter(format: .v2)
            var bytes = try writer.encode(samples, start: Self.start, rate: rate, source: Self.source)
            #expect(bytes.count % 512 == 0)
            var read: [Int32] = []
            bytes.withUnsafeMutableBytes { all in
                for record in stride(from: 0, to: all.count, by: 512) {
                    var parsed: UnsafeMutablePointer<MSRecord_s>?
                    let base = all.baseAddress?.advanced(by: record).assumingMemoryBound(to: CChar.self)
                    #expect(msr_parse(base, 512, &parsed, 512, 1, 0) == 0)
                    guard let found = parsed?.pointee else { continue }
                    #expect(found.numsamples == found.samplecnt)
                    #expect(abs(found.samprate / rate - 1) < 1e-7)
                    let exact = Self.start / 1000 + Int64((Double(read.count) / rate * 1e6).rounded())
                    #expect(abs(found.starttime - exact) <= 1)
                    let values = found.datasamples.assumingMemoryBound(to: Int32.self)
                    read += UnsafeBufferPointer(start: values, count: Int(found.numsamples))
                    msr_free(&parsed)
                }
            }
            #expect(read == samples)
        }
    }

    @Test(arguments: MiniSEEDFormat.allCases)
    func differencesOverThirtyBitsAreWrittenAsIntegers(format: MiniSEEDFormat) throws {
        var samples = Self.walk(6000, seed: 3)
        for index in stride(from: 700, to: 720, by: 2) { (samples[index], samples[index + 1]) = (.max, .min) }
        samples.append(.min)
        samples.append(.max)
        var writer = try MiniSEEDWriter(format: format)
        let bytes = try writer.encode(samples, start: Self.start, rate: 100, source: Self.source)
        #expect(try Self.joined(bytes) == samples)
        let codes = Set(try ReferenceFiles.records(bytes).map(\.header.payload.encodingCode))
        #expect(codes == [MiniSEEDEncoding.int32.rawValue, MiniSEEDEncoding.steim2.rawValue])
    }

    @Test func theLimitsOfThirtyBitsAreStillSteim2() throws {
        let samples: [Int32] = [0, -536_870_912, -1, 0, 536_870_911, 0]
        var writer = try MiniSEEDWriter(format: .v3)
        let records = try ReferenceFiles.records(
            writer.encode(samples, start: 0, rate: 100, source: Self.source))
        #expect(records.map(\.header.payload.encodingCode) == [MiniSEEDEncoding.steim2.rawValue])
        #expect(records.first?.samples == .integers(samples))
    }

    @Test func whatTheFormatCannotHoldIsRefused() throws {
        for length in [0, 100, 128, 513, 131_072] {
            #expect(throws: MiniSEEDError.self) { try MiniSEEDWriter(format: .v2, recordLength: length) }
        }
        let long = SourceIdentifier(network: "XX", station: "TOOLONG", location: "00", channel: "HNZ")
        let odd = SourceIdentifier(network: "X\n", station: "B_S", location: "00", channel: "HNZ")
        for format in MiniSEEDFormat.allCases {
            var writer = try MiniSEEDWriter(format: format)
            #expect(throws: MiniSEEDError.self) { try writer.encode([], start: 0, rate: 100, source: Self.source) }
            for rate in [0, -1, .nan, .infinity, 1e9] {
                #expect(throws: MiniSEEDError.self) {
                    try writer.encode([1], start: 0, rate: rate, source: Self.source)
                }
            }
            #expect(throws: MiniSEEDError.self) { try writer.encode([1], start: 0, rate: 1, source: odd) }
        }
        var second = try MiniSEEDWriter(format: .v2)
        let error = miniSEEDError { _ = try second.encode([1], start: 0, rate: 1, source: long) }
        #expect(error?.reason.contains("station code \"TOOLONG\"") == true)
        var third = try MiniSEEDWriter(format: .v3)
        #expect(throws: Never.self) { try third.encode([1], start: 0, rate: 1, source: long) }
    }
}
