import SignalProcessing
import Testing

@testable import Sensors

/// Gaps, steps of the wall clock, duplicates, chips that change: what is declared, and that the line survives it.
@Suite struct TimebaseFaultTests {
    private static let readings: [SimulatedChip.Reading] = [.level(watermark: 16), .stamped(block: 16)]

    private func settled(_ reading: SimulatedChip.Reading, seconds: Double = 30) -> (SimulatedChip, Timebase) {
        var chip = SimulatedChip()
        chip.deviation = 0.003
        chip.reading = reading
        var base = Timebase(nominalRate: 100)
        _ = chip.run(&base, seconds: seconds)
        return (chip, base)
    }

    @Test(arguments: [0, 1]) func aKnownLossIsToldExactlyAndDoesNotDisturbTheLine(_ way: Int) {
        var (chip, base) = settled(Self.readings[way])
        let before = chip.rateError(base)
        chip.lose(37)
        let block = chip.next(&base, lost: 37)
        #expect(block.time.gapBefore && block.time.lostBefore == 37)
        #expect(abs(block.error) < 0.2)
        let after = chip.run(&base, seconds: 5)
        #expect(after.allSatisfy { !$0.time.gapBefore && abs($0.error) < 0.2 })
        #expect(abs(chip.rateError(base) - before) < 2e-5)
    }

    @Test(arguments: [0, 1], [1, 2, 700]) func anUnknownLossIsEstimatedFromTime(_ way: Int, _ missing: Int) {
        var (chip, base) = settled(Self.readings[way])
        chip.lose(missing)
        let block = chip.next(&base, lost: nil)
        #expect(block.time.gapBefore && block.time.lostBefore == missing)
        #expect(abs(block.error) < 0.2)
        #expect(chip.run(&base, seconds: 5).allSatisfy { !$0.time.gapBefore && abs($0.error) < 0.2 })
    }

    @Test(arguments: [0, 1], [1, 3, 160]) func aLossThatNobodyNoticedIsFoundOut(_ way: Int, _ missing: Int) {
        var (chip, base) = settled(Self.readings[way])
        chip.lose(missing)
        let blocks = chip.run(&base, seconds: 10)
        #expect(blocks.filter { $0.time.gapBefore }.map(\.time.lostBefore) == [missing])
        #expect(blocks.suffix(40).allSatisfy { abs($0.error) < 0.25 })
        #expect(abs(chip.rateError(base)) < 1e-4)
    }

    @Test(arguments: [0, 1], [3_600_000_000_000, -3_600_000_000_000, 20_000_000, -700_000_000] as [Int64])
    func aStepOfTheWallClockIsDeclaredAndTheRateGoesOn(_ way: Int, _ step: Int64) {
        var (chip, base) = settled(Self.readings[way])
        let before = chip.rateError(base)
        chip.offset += step
        let blocks = chip.run(&base, seconds: 3)
        #expect(base.clockSteps == 1)
        let gaps = blocks.enumerated().filter { $0.element.time.gapBefore }
        #expect(gaps.map(\.element.time.lostBefore) == [0])
        #expect(gaps.map(\.offset).max() ?? 9 <= 1)
        #expect(blocks.dropFirst(2).allSatisfy { abs($0.error) < 0.2 })
        #expect(abs(chip.rateError(base) - before) < 1e-5)
        #expect(base.duplicates == 0)
    }

    /// Between the read of one clock and the other the reader was away for a while, once.
    @Test func onePairOfClocksReadApartIsNoStep() {
        var (chip, base) = settled(.stamped(block: 16))
        chip.offset += 40_000_000
        let odd = chip.next(&base)
        chip.offset -= 40_000_000
        let blocks = [odd] + chip.run(&base, seconds: 5)
        #expect(base.clockSteps == 0)
        #expect(blocks.allSatisfy { !$0.time.gapBefore })
        #expect(blocks.dropFirst().allSatisfy { abs($0.error) < 0.1 })
    }

    /// Samples that the kernel stamped by the old clock are read after it was set.
    @Test func stampsOlderThanTheStepKeepTheirMoment() {
        var (chip, base) = settled(.stamped(block: 16))
        chip.offset += 500_000_000
        _ = chip.run(&base, seconds: 1)
        let (steps, slow) = (base.clockSteps, base.slowReads)
        let now = ClockReading(monotonic: chip.monotonic, wall: chip.monotonic + chip.offset)
        #expect(
            ClockReading(stamp: now.wall - 5, now: now)
                == ClockReading(monotonic: now.monotonic - 5, wall: now.wall - 5))
        #expect(steps == 1 && slow == 0)
    }

    @Test func aSmallChangeOfTheOffsetIsFollowedWithoutAGap() {
        var (chip, base) = settled(.level(watermark: 16))
        chip.offset += 1_500_000
        let blocks = chip.run(&base, seconds: 20)
        #expect(base.clockSteps == 0)
        #expect(blocks.allSatisfy { !$0.time.gapBefore })
        #expect(abs(blocks.last?.error ?? 1) < 0.05)
    }

    @Test func aStampThatDoesNotAdvanceIsADuplicate() {
        var (chip, base) = settled(.stamped(block: 16))
        let block = chip.next(&base)
        let again = ClockReading(
            monotonic: Int64(block.elapsed * 1e9) + chip.monotonic,
            wall: Int64(block.elapsed * 1e9) + chip.monotonic + chip.offset)
        let time = base.take(count: 16, lost: 0, .stamped(again))
        #expect(time.isDuplicate && !time.gapBefore && base.duplicates == 1)
        #expect(chip.run(&base, seconds: 2).allSatisfy { !$0.time.gapBefore && abs($0.error) < 0.1 })
    }

    @Test(arguments: [0, 1]) func anInterruptionKeepsTheRateAndSaysHowMuchIsMissing(_ way: Int) throws {
        var (chip, base) = settled(Self.readings[way])
        chip.lose(500)
        chip.wait(seconds: 5)
        base.interrupt()
        let block = chip.next(&base)
        #expect(block.time.gapBefore)
        #expect(abs(block.time.lostBefore - 500) <= 1)
        #expect(abs(block.error) <= 0.6)
        #expect(try #require(base.rate).uncertainty < 0.1)
        #expect(abs(chip.rateError(base)) < 1e-3)
        #expect(chip.run(&base, seconds: 20).suffix(10).allSatisfy { abs($0.error) < 0.2 })
    }

    /// Clocks that say anything: no trap, and no time before the one of the block before without a gap.
    @Test func nonsenseIsSurvived() {
        var random = SplitMix(state: 7)
        var base = Timebase(nominalRate: 100)
        var before = BlockTime(time: 0, gapBefore: true, lostBefore: 0)
        let scales = [1e3, 1e7, 1e9, 1e12, 9e18]
        for n in 0..<20_000 {
            func any() -> Int64 { Int64((random.unit() * 2 - 1) * scales[Int(random.unit() * 5)]) }
            let (a, b) = (ClockReading(monotonic: any(), wall: any()), ClockReading(monotonic: any(), wall: any()))
            if n % 500 == 0 { base.interrupt() }
            let lost = random.unit() < 0.2 ? nil : Int(random.unit() * 1e5)
            let left = Int(random.unit() * 100)
            let time = base.take(
                count: 1 + n % 40, lost: lost,
                random.unit() < 0.5 ? .stamped(a) : .level(before: a, after: b, left: left))
            _ = base.due(samples: 16, now: 0)
            if !time.gapBefore, !time.isDuplicate { #expect(time.time > before.time) }
            if let rate = base.rate { #expect(rate.rate.isFinite && rate.rate > 0 && rate.uncertainty >= 0) }
            #expect(time.lostBefore >= 0)
            before = time
        }
    }

    /// The chip was set to another rate behind the driver's back.
    @Test(arguments: [0, 1]) func aSuddenOtherRateIsFoundOut(_ way: Int) {
        var (chip, base) = settled(Self.readings[way])
        chip.change(deviation: -0.03)
        let blocks = chip.run(&base, seconds: 30)
        #expect(abs(chip.rateError(base)) < 5e-4)
        #expect(blocks.suffix(20).allSatisfy { abs($0.error) < 0.3 })
    }
}
