import SignalProcessing
import Testing

@testable import Sensors

@Suite struct TimebaseTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var rate: Double
        var watermark: Int
        var deviation: Double
        var testDescription: String { "\(rate) Hz, watermark \(watermark), \(deviation * 100) % off" }
    }

    static let cases = [100.0, 200, 400, 1000, 4000].flatMap { rate in
        [1, 16, 32, 200].flatMap { watermark in
            [-0.038, 0, 0.003].map { Case(rate: rate, watermark: watermark, deviation: $0) }
        }
    }.filter { Double($0.watermark) / $0.rate > 0.002 }

    /// The figures: with a steady clock the rate is known to 0.01 % and the time of a block to 0.2 samples.
    @Test(arguments: cases) func aSteadyChipIsKnownAfterAMinute(_ given: Case) throws {
        var chip = SimulatedChip()
        (chip.nominal, chip.deviation) = (given.rate, given.deviation)
        chip.reading = .level(watermark: given.watermark)
        chip.read = (100_000, 200_000)
        var base = Timebase(nominalRate: given.rate)
        let early = chip.run(&base, seconds: 10)
        let middle = chip.run(&base, seconds: 50)
        let late = chip.run(&base, seconds: 60)
        #expect(abs(chip.rateError(base)) < 1e-4)
        #expect(late.map { abs($0.error) }.max() ?? 1 < 0.2)
        #expect((early + middle + late).filter { $0.time.gapBefore }.count == 1)
    }
}
