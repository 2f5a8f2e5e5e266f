import MiniSEED
import Testing

@testable import Feed

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

    // MARK: clocks that are ahead

    /// Live blocks of a second each, as the feed gets them: the times that the station gives them, at seconds of the feed's
    /// clock, and what comes out in order.
    private func play(_ seconds: [(clock: Int, time: Int)], patience: Double = 10) -> (
        samples: [Int32], missing: Int, late: Int, waits: [Int]
    ) {
        var flow = ChannelFlow()
        var (ordered, missing, late, waits): ([Int32], Int, Int, [Int]) = ([], 0, 0, [])
        for (clock, time) in seconds {
            let utc = Int64(clock + 1) * 1_000_000_000
            var steps = flow.take(block(time), now: Double(clock + 1), patience: patience, clock: utc)
            steps += flow.tick(now: Double(clock + 1), patience: patience, clock: utc)
            for step in steps {
                switch step {
                case .block(let block): ordered += block.samples
                case .missing(_, _, let count): missing += count
                case .late(let block): late += block.samples.count
                case .back: break
                }
            }
            waits.append(seconds.prefix { $0.clock <= clock }.count * 10 - ordered.count - late)
        }
        return (ordered, missing, late, waits)
    }

    /// A clock that is ahead for some seconds holds nothing back: by less than the feed's patience, by more, from the first
    /// sample on, twice. What is right comes in order, and no later than two seconds after it was there.
    @Test(arguments: [
        (3, 1500, 10), (30, 1500, 10), (3, 8, 10), (30, 8, 10), (3, 1500, 0), (30, 60, 0), (60, 3600, 25), (1, 5, 3),
    ])
    func aClockThatWasAheadHoldsNothingBack(length: Int, ahead: Int, from: Int) {
        for repeats in 1...2 {
            var seconds: [(clock: Int, time: Int)] = []
            for clock in 0..<(from + 200) * repeats {
                let within = clock % (from + 200)
                seconds.append((clock, within >= from && within < from + length ? clock + ahead : clock))
            }
            let result = play(seconds)
            let right = seconds.filter { $0.clock == $0.time }
                .flatMap { second in (0..<10).map { Int32(second.time * 10 + $0) } }
            let ordered = Set(result.samples)
            // (What the wrong clock said stays; where its time has come, the right samples come as well.)
            let twice = result.samples.count - ordered.count
            #expect(twice <= (ahead < 200 ? repeats * length * 10 : 0), "each sample once")
            #expect(ordered.isSuperset(of: right), "all that is right is in order: ahead \(ahead) s for \(length) s")
            // What the clock was wrong for is waited for as any other hole; then nothing waits any more.
            // (A sample that comes twice counts as one that waits.)
            for second in from + length + 12..<from + 200 {
                let waits = result.waits[second]
                #expect(waits <= (ahead < 200 ? length * 10 : 0), "second \(second): \(waits) samples wait")
            }
        }
    }

    /// Few seconds ahead, while the patience lasts, are no hole: nothing is said to be missing.
    @Test func whatIsAheadForAMomentMakesNoHole() {
        let seconds = (0..<100).map { (clock: $0, time: $0 >= 20 && $0 < 23 ? $0 + 1500 : $0) }
        let result = play(seconds)
        // The three seconds themselves are missing; the 25 minutes are not.
        #expect(result.missing == 30 && result.late == 30)
    }

    /// A feed whose own clock is behind, or that has none, takes what comes twice for what it is.
    @Test func aFeedThatIsBehindDoesNotGoBackForDuplicates() {
        var flow = ChannelFlow()
        var ordered = 0
        for second in 0..<60 {
            let again = second > 30 && second < 36 ? second - 20 : second
            for one in Set([second, again]).sorted(by: >) {
                let clock = Int64(second - 600) * 1_000_000_000
                for step in flow.take(block(one), now: Double(second), patience: 10, clock: clock) {
                    if case .block(let block) = step { ordered += block.samples.count }
                    if case .back = step { Issue.record("back for a duplicate at \(second)") }
                }
            }
        }
        #expect(ordered == 600)
    }
}
