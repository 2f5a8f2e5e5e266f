import Messages
import MiniSEED
import Settings
import SignalProcessing
import Testing

@testable import Station

/// The full-rate samples that the agent keeps of the last hour.
@Suite struct RingTests {
    private struct Kept: Equatable {
        var segment: WaveformSegment
        var bytes: [UInt8]
    }

    private func kept(_ blocks: [SampleBlock], _ configuration: Configuration, rate: Double = 100) throws -> [Kept] {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: rate, resolution: 1e-3), boot: "boot")
        var kept: [Kept] = []
        pipeline.onSegment = { kept.append(Kept(segment: $0, bytes: Array($1))) }
        for block in blocks { pipeline.process(block, quality: .replay) { _, _ in } }
        pipeline.finish { _, _ in }
        return kept
    }

    @Test func everySampleIsKeptOnce() throws {
        let recording = burst(seconds: 70)
        let all = try kept(recording.blocks(of: 16), testConfiguration())
        #expect(all.reduce(0) { $0 + $1.segment.samples } == recording.x.count)
        for (one, next) in zip(all, all.dropFirst()) {
            #expect(next.segment.start - one.segment.end == 10_000_000)
        }
        let first = try #require(all.first)
        #expect(first.segment.start == recording.start)
        var reader = MiniSEEDReader(first.bytes)
        let record = try #require(try reader.next())
        #expect(record.header.start == recording.start)
        let values = record.samples.values
        for i in values.indices { #expect(abs(values[i] * 1e-3 - recording.x[i]) <= 0.5e-3) }
    }

    @Test func segmentsAreShortWhileAnEventLasts() throws {
        let all = try kept(burst(seconds: 70).blocks(of: 16), testConfiguration())
        let lengths = Set(all.dropLast().map(\.segment.samples))
        #expect(lengths.contains(1000))
        #expect(lengths.contains(100))
    }

    @Test func aGapEndsASegment() throws {
        let recording = burst(seconds: 30)
        let all = try kept(recording.blocks(of: 16, gaps: [500: 37]), testConfiguration())
        #expect(all.first?.segment.samples == 500)
        #expect(all.reduce(0) { $0 + $1.segment.samples } == recording.x.count)
    }

    @Test func anyBlockSizeGivesTheSameSegments() throws {
        let recording = burst(seconds: 60)
        let gaps = [1000: 37, 1500: 4000]
        let whole = try kept(recording.blocks(of: 1000, gaps: gaps), testConfiguration())
        for size in [1, 7, 16, 100] {
            let cut = try kept(recording.blocks(of: size, gaps: gaps), testConfiguration())
            #expect(cut == whole, "blocks of \(size)")
        }
    }
}
