import SignalProcessing
import Testing

@testable import Sensors

/// Rate and time against a chip whose truth is known.
@Suite struct TimebaseTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var rate: Double
        var watermark: Int
        var deviation: Double
        var testDescription: String { "\(rate) Hz, watermark \(watermark), \(deviation * 100) % off" }
    }

    static let cases: [Case] = {
        var cases: [Case] = []
        for rate in [100.0, 200, 400, 1000, 4000] {
            for watermark in [1, 16, 32, 200] where Double(watermark) / rate > 0.002 {
                for deviation in [-0.038, 0, 0.003] {
                    cases.append(Case(rate: rate, watermark: watermark, deviation: deviation))
                }
            }
        }
        return cases
    }()

    private func worst(_ outcomes: some Sequence<SimulatedChip.Outcome>) -> Double {
        outcomes.map { abs($0.error) }.max() ?? .infinity
    }

    /// With a steady clock the rate is known to 0.01 % and the time of a block to 0.2 samples.
    @Test(arguments: cases) func aSteadyChipIsKnownAfterAMinute(_ given: Case) throws {
        var chip = SimulatedChip()
        (chip.nominal, chip.deviation) = (given.rate, given.deviation)
        chip.reading = .level(watermark: given.watermark)
        chip.read = (100_000, 200_000)
        var base = Timebase(nominalRate: given.rate)
        let first = chip.run(&base, seconds: 60)
        let late = chip.run(&base, seconds: 60)
        #expect(abs(chip.rateError(base)) < 3e-5)
        #expect(worst(late) < 0.12)
        #expect((first + late).filter { $0.time.gapBefore }.count == 1)
    }

    /// A host that wakes up to 5 ms late and stands still for 100 ms now and then.
    @Test(arguments: [100.0, 400, 1000, 4000], [16, 64]) func aBusyHostIsNoLoss(_ rate: Double, _ watermark: Int) {
        var chip = SimulatedChip()
        (chip.nominal, chip.deviation, chip.jitter, chip.stalls) = (rate, -0.038, 5_000_000, 0.02)
        chip.reading = .level(watermark: watermark)
        var base = Timebase(nominalRate: rate)
        let first = chip.run(&base, seconds: 60)
        let late = chip.run(&base, seconds: 60)
        #expect((first + late).filter { $0.time.gapBefore }.count == 1)
        #expect(base.slowReads > 0 && base.clockSteps == 0)
        #expect(abs(chip.rateError(base)) < 1e-4)
        #expect(worst(late) < 0.2)
    }

    @Test(arguments: [100.0, 400, 1000], [30_000.0, 1_000_000]) func stampsThatAreLateAreSeenThrough(
        _ rate: Double, _ latency: Double
    ) {
        var chip = SimulatedChip()
        (chip.nominal, chip.deviation, chip.latency, chip.stalls) = (rate, -0.012, latency, 0.02)
        chip.reading = .stamped(block: Int(rate * 0.16))
        var base = Timebase(nominalRate: rate)
        let first = chip.run(&base, seconds: 60)
        let late = chip.run(&base, seconds: 60)
        #expect((first + late).filter { $0.time.gapBefore }.count == 1)
        #expect(abs(chip.rateError(base)) < 1e-4)
        #expect(worst(late) < 0.2)
        #expect(base.slowReads > 3)
    }

    /// −3.8 % is found out in seconds, and is no loss of samples.
    @Test(arguments: [-0.1, -0.038, 0.003, 0.08], [100.0, 1000]) func aRateFarOffIsFoundOutQuickly(
        _ deviation: Double, _ rate: Double
    ) throws {
        var chip = SimulatedChip()
        (chip.nominal, chip.deviation) = (rate, deviation)
        chip.reading = .level(watermark: Int(rate * 0.16))
        var base = Timebase(nominalRate: rate)
        let blocks = chip.run(&base, seconds: 4)
        let measured = try #require(base.rate)
        #expect(abs(chip.rateError(base)) < 2e-3)
        #expect(abs(chip.rateError(base)) < 4 * measured.uncertainty / measured.rate)
        #expect(blocks.filter { $0.time.gapBefore }.count == 1 && base.slowReads == 0)
        #expect(blocks.allSatisfy { $0.time.lostBefore == 0 })
        #expect(worst(blocks.suffix(3)) < 0.5)
    }

    /// A reader in step with the chip sees the same level for ever: where between two samples it reads is not to be
    /// known, and that is said; with the timebase's own moments it is known soon.
    @Test(arguments: [0.02, 0.5, 0.9]) func readingInStepIsNotMistakenForKnowing(_ phase: Double) throws {
        var chip = SimulatedChip()
        (chip.jitter, chip.reading) = (0, .lockstep(watermark: 16, phase: phase))
        var base = Timebase(nominalRate: 100)
        let blocks = chip.run(&base, seconds: 60)
        #expect(worst(blocks) < 0.55)
        let said = try #require(base.timeError) * 100
        #expect(said > 0.2 && said < 0.35)
        #expect(abs(blocks.last?.error ?? 1) < 2.5 * said)
        #expect(abs(chip.rateError(base)) < 1e-4)
        chip.reading = .level(watermark: 16)
        #expect(worst(chip.run(&base, seconds: 20).suffix(60)) < 0.2)
        #expect(try #require(base.timeError) * 100 < 0.2)
    }

    /// What is said of the error is about true from the first block on.
    @Test(arguments: [-0.038, 0.001], [4, 16, 100]) func theErrorIsStatedHonestly(_ deviation: Double, _ watermark: Int)
        throws
    {
        var (sum, count, worst) = (0.0, 0, 0.0)
        for seed in 1...20 {
            var chip = SimulatedChip()
            chip.random = SplitMix(state: UInt64(seed))
            (chip.deviation, chip.reading) = (deviation, .level(watermark: watermark))
            chip.monotonic += Int64(chip.random.unit() * 1e7)
            var base = Timebase(nominalRate: 100)
            while true {
                let block = chip.next(&base)
                let ratio = abs(block.error) / (try #require(base.timeError) * 100)
                (sum, count, worst) = (sum + ratio * ratio, count + 1, max(worst, ratio))
                if block.elapsed > 30 { break }
            }
        }
        #expect((sum / Double(count)).squareRoot() < 1.5)
        #expect(worst < 5)
    }

    /// Blocks lie on the line of the rate: small corrections once it is known, and never backwards.
    @Test(arguments: [100.0, 1000], [1, 16, 200]) func blocksLieOnTheLine(_ rate: Double, _ watermark: Int) {
        var chip = SimulatedChip()
        (chip.nominal, chip.deviation, chip.stalls) = (rate, -0.038, 0.01)
        chip.reading = .level(watermark: watermark)
        var base = Timebase(nominalRate: rate)
        let blocks = chip.run(&base, seconds: 120)
        for (before, block) in zip(blocks, blocks.dropFirst()) {
            let samples = Double(block.time.time - before.time.time) / chip.truePeriod
            #expect(samples > Double(before.count) - 0.5 - 0.1 * Double(before.count))
            if block.elapsed > 60 { #expect(abs(samples - Double(before.count)) < 0.02) }
        }
    }

    /// 20 ppm in two minutes: the temperature of the chip.
    @Test(arguments: [100.0, 1000, 4000]) func aRateThatWandersIsFollowed(_ rate: Double) {
        var chip = SimulatedChip()
        (chip.nominal, chip.drift) = (rate, 20e-6 / 120)
        chip.reading = .level(watermark: rate > 1000 ? 200 : 16)
        chip.read = (100_000, 200_000)
        var base = Timebase(nominalRate: rate)
        _ = chip.run(&base, seconds: 60)
        #expect(worst(chip.run(&base, seconds: 300)) < 0.2)
        #expect(abs(chip.rateError(base)) < 3e-5)
    }

    @Test func nothingIsKnownBeforeTheFirstBlock() {
        var base = Timebase(nominalRate: 100)
        #expect(base.rate == nil && base.timeError == nil && base.clockSteps == 0 && base.slowReads == 0)
        #expect(base.due(samples: 10, now: 7) == 100_000_007)
        base.interrupt()
        let now = ClockReading(monotonic: 10_000_000_000, wall: 90_000_000_000)
        let time = base.take(count: 10, lost: 0, .stamped(now))
        #expect(time == BlockTime(time: 90_000_000_000 - 90_000_000, gapBefore: true, lostBefore: 0))
        #expect(base.rate == nil)
    }

    @Test func aMomentWithoutTheMonotonicClockIsTakenByTheWallClock() {
        var base = Timebase(nominalRate: 100)
        for n in 1...400 {
            let wall = 1_700_000_000_000_000_000 + Int64(n) * 161_000_000
            let time = base.take(count: 16, lost: 0, .stamped(ClockReading(monotonic: 0, wall: wall)))
            if n > 200 { #expect(abs(time.time - (wall - 15 * 10_062_500)) < 100_000) }
        }
        #expect(abs((base.rate?.rate ?? 0) / (16 / 0.161) - 1) < 1e-5)
    }

    /// Two clocks are read anew when something came between.
    @Test func clocksAreReadTogether() {
        let clock = VirtualClock(monotonic: 1_000, wall: 5_000)
        #expect(clock.reading() == ClockReading(monotonic: 1_000, wall: 5_000))
    }
}
