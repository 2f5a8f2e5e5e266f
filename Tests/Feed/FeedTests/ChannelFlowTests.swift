import Feed
import MiniSEED
import Testing

struct ChannelFlowTests {
    private static let source = SourceIdentifier(network: "XX", station: "BASE", location: "00", channel: "HNZ")

    /// Second `second` of 10 Hz; its samples are numbered.
    private func block(_ second: Int, count: Int = 10) -> ChannelBlock {
        ChannelBlock(
            source: Self.source, start: Int64(second) * 1_000_000_000, rate: 10,
            samples: (0..<count).map { Int32(second * 10 + $0) })
    }

    private func samples(_ steps: [ChannelFlow.Step]) -> [Int32] {
        steps.flatMap { if case .block(let block) = $0 { block.samples } else { [Int32]() } }
    }

    @Test func putsBlocksInOrderOnce() {
        var flow = ChannelFlow()
        var steps: [ChannelFlow.Step] = []
        for second in [0, 1, 1, 3, 4, 3, 2, 0, 5] {
            steps += flow.take(block(second), now: 0, patience: 10)
        }
        #expect(samples(steps) == (0..<60).map { Int32($0) })
        #expect(flow.duplicates == 30)
        #expect(flow.hole == nil)
    }

    @Test func saysWhatIsMissingWhenPatienceEnds() {
        var flow = ChannelFlow()
        _ = flow.take(block(0), now: 0, patience: 10)
        #expect(flow.take(block(3), now: 1, patience: 10).isEmpty)
        #expect(flow.hole?.from == 1_000_000_000 && flow.hole?.to == 3_000_000_000)
        #expect(flow.tick(now: 10.9, patience: 10).isEmpty)
        let steps = flow.tick(now: 11, patience: 10)
        #expect(steps.first == .missing(from: 1_000_000_000, to: 3_000_000_000, count: 20))
        #expect(samples(steps) == (30..<40).map { Int32($0) })
        // It comes all the same: late, once.
        #expect(flow.take(block(2), now: 12, patience: 10) == [.late(block(2))])
        #expect(flow.take(block(2), now: 12, patience: 10) == [])
        #expect(flow.take(block(1), now: 12, patience: 10) == [.late(block(1))])
        #expect(flow.duplicates == 10)
    }

    @Test func waitsWhileWhatWasMissingComes() {
        var flow = ChannelFlow()
        _ = flow.take(block(0), now: 0, patience: 10)
        _ = flow.take(block(5), now: 1, patience: 10)
        _ = flow.take(block(1), now: 9, patience: 10, isHistory: true)
        #expect(flow.tick(now: 15, patience: 10).isEmpty)
        #expect(flow.tick(now: 19, patience: 10).first == .missing(from: 2_000_000_000, to: 5_000_000_000, count: 30))
    }

    @Test func doesNotWaitForWhatLiesBesideAHole() {
        var flow = ChannelFlow()
        _ = flow.take(block(0), now: 0, patience: 10)
        _ = flow.take(block(5), now: 1, patience: 10)
        _ = flow.take(block(0), now: 9, patience: 10, isHistory: true)
        _ = flow.take(block(5), now: 9, patience: 10, isHistory: true)
        #expect(!flow.tick(now: 11, patience: 10).isEmpty)
    }

    @Test func cutsOverlaps() {
        var flow = ChannelFlow()
        var steps = flow.take(block(0), now: 0, patience: 10)
        var other = block(0, count: 15)
        other.start += 500_000_000
        other.samples = (5..<20).map { Int32($0) }
        steps += flow.take(other, now: 0, patience: 10)
        #expect(samples(steps) == (0..<20).map { Int32($0) })
        #expect(flow.duplicates == 5)
    }

    @Test func neverHoldsMoreThanTenMinutes() {
        var flow = ChannelFlow()
        _ = flow.take(block(0), now: 0, patience: 1e9)
        var steps: [ChannelFlow.Step] = []
        for second in 2..<700 { steps += flow.take(block(second), now: 0, patience: 1e9) }
        #expect(steps.first == .missing(from: 1_000_000_000, to: 2_000_000_000, count: 10))
    }

    @Test func neverHoldsMoreThanSomeThousandBlocks() {
        var flow = ChannelFlow()
        _ = flow.take(block(0), now: 0, patience: 1e9)
        var steps: [ChannelFlow.Step] = []
        for index in 0..<5000 {
            var one = block(2, count: 1)
            one.start += Int64(index) * 100_000_000
            steps += flow.take(one, now: 0, patience: 1e9)
        }
        #expect(steps.first == .missing(from: 1_000_000_000, to: 2_000_000_000, count: 10))
        #expect(samples(steps).count == 5000)
    }

    @Test func anyOrderGivesEverySampleOnce() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var flow = ChannelFlow()
            var order = (1..<30).flatMap { Int.random(in: 0..<4, using: &random) == 0 ? [$0, $0] : [$0] }
            for index in order.indices.dropLast() {
                order.swapAt(index, min(order.count - 1, index + Int.random(in: 0...5, using: &random)))
            }
            var steps: [ChannelFlow.Step] = flow.take(block(0), now: 0, patience: 10)
            for second in order { steps += flow.take(block(second), now: 0, patience: 10) }
            #expect(samples(steps) == (0..<300).map { Int32($0) }, "order \(order)")
        }
    }

    @Test func packsAllSamplesIntoRecordsWithTheirTimes() throws {
        var packetiser = try Packetiser(source: Self.source, rate: 10)
        var made: [Packetiser.Made] = []
        var sent: [Int64: Int32] = [:]
        for second in 0..<300 {
            var one = block(second)
            one.samples = one.samples.map { ($0 &* 7919) % 5000 }
            for (index, sample) in one.samples.enumerated() {
                sent[one.start + Int64(index) * 100_000_000] = sample
            }
            made += packetiser.take(one, seconds: 1000)
        }
        made += packetiser.flush()
        #expect(packetiser.waiting == nil)
        var received: [Int64: Int32] = [:]
        for (index, one) in made.enumerated() {
            #expect(one.bytes.count == 512)
            var reader = MiniSEEDReader(one.bytes)
            let record = try #require(try reader.next())
            #expect(record.header.source == Self.source && record.header.start == one.start)
            guard case .integers(let samples) = record.samples else { continue }
            #expect(index == made.count - 1 || samples.count > 150)
            for (index, sample) in samples.enumerated() {
                #expect(received.updateValue(sample, forKey: one.start + Int64(index) * 100_000_000) == nil)
            }
        }
        #expect(received == sent)
    }
}
