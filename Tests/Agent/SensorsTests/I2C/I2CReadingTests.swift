import Glibc
import Instruments
import SignalProcessing
import Testing

@testable import Sensors

@Suite struct I2CReadingTests {
    /// Every rate of every chip: each sample once, in order, at its time, with the chip's clock 3.8 % slow.
    @Test(arguments: ChipKind.all) func allRatesWithoutLoss(kind: ChipKind) throws {
        for rate in try #require(Chip.named(kind.name)).rates {
            var bench = Bench(kind, rate: rate.hertz)
            bench.chip.pace = 0.962
            let description = try bench.sensor.open()
            #expect(description.rate == rate.hertz)
            let count = max(20, min(Int(rate.hertz * 60), max(3000, Int(rate.hertz * 12))))
            let capacity = max(1, Int((rate.hertz * 0.16).rounded()))
            let delivery = try Delivery(&bench.sensor, block: capacity, atMost: count)
            let indices = bench.indices(delivery)
            let firstIndex = indices.first ?? nil
            let first = try #require(firstIndex)
            #expect(first <= 3, "\(rate.hertz)")
            #expect(indices == (first..<(first + indices.count)).map { $0 }, "\(kind.name) \(rate.hertz)")
            #expect(delivery.marks.map(\.index) == [0], "\(kind.name) \(rate.hertz)")
            let condition = bench.sensor.condition
            #expect(condition.lost == 0 && condition.overruns == 0)
            if delivery.x.count >= 1000 {
                let truth = rate.hertz * 0.962
                let measured = try #require(condition.rate)
                #expect(abs(measured.rate / truth - 1) < 1e-3, "\(rate.hertz): \(measured)")
                var worst = 0.0
                for (index, time) in delivery.times where index > delivery.x.count / 2 {
                    let moment = try #require(bench.chip.time(of: index + first))
                    let wall = moment - bench.clock.monotonic() + bench.clock.wall()
                    worst = max(worst, abs(Double(time - wall)) * truth / 1e9)
                }
                // At high rates the transfer that asks for the level takes a part of a sample, too.
                #expect(worst < max(0.2, 0.2e-3 * truth), "\(rate.hertz) Hz: samples")
            }
        }
    }

    @Test(arguments: ChipKind.all) func anySizeOfBlock(kind: ChipKind) throws {
        for capacity in [1, 7, 100] {
            var bench = Bench(kind)
            _ = try bench.sensor.open()
            let delivery = try Delivery(&bench.sensor, block: capacity, atMost: 1000)
            let indices = bench.indices(delivery)
            let firstIndex = indices.first ?? nil
            let first = try #require(firstIndex)
            #expect(indices == (first..<(first + indices.count)).map { $0 })
            #expect(delivery.counts.allSatisfy { (1...capacity).contains($0) })
        }
    }

    /// The agent comes back after two seconds: what was overwritten is declared, with its number.
    @Test(arguments: ChipKind.all) func overrunIsDeclared(kind: ChipKind) throws {
        var bench = Bench(kind, rate: 200)
        _ = try bench.sensor.open()
        let before = try Delivery(&bench.sensor, block: 32, atMost: 4000)
        bench.clock.advance(4_000_000_000)
        let after = try Delivery(&bench.sensor, block: 32, atMost: 1000)
        let lastIndex = bench.indices(before).last ?? nil
        let last = try #require(lastIndex)
        let indices = bench.indices(after, from: last + 1)
        let first = try #require(after.marks.first)
        #expect(first.index == 0)
        let start = try #require(indices[0])
        #expect(start > last + 100)
        #expect(abs(first.lost - (start - last - 1)) <= 2, "\(kind.name)")
        #expect(bench.sensor.condition.overruns == 1)
        #expect(bench.sensor.condition.lost == first.lost)
        #expect(indices == (start..<(start + indices.count)).map { $0 })
    }

    /// An adapter that does one read per transfer, as the Raspberry Pi's, or only short ones.
    @Test func adaptersWithLimits() throws {
        for kind in ChipKind.withFIFO {
            var bench = Bench(kind)
            (bench.bus.oneReadOnly, bench.bus.longestRead) = (true, 32)
            _ = try bench.sensor.open()
            let delivery = try Delivery(&bench.sensor, block: 16, atMost: 500)
            let indices = bench.indices(delivery)
            let firstIndex = indices.first ?? nil
            let first = try #require(firstIndex)
            #expect(indices == (first..<(first + indices.count)).map { $0 })
            #expect(bench.sensor.condition.retries == 0)
        }
    }

    @Test func wakeUpsAndTransfersAreFew() throws {
        for kind in ChipKind.withFIFO {
            var bench = Bench(kind)
            _ = try bench.sensor.open()
            bench.bus.transfers = 0
            #expect(bench.sensor.condition.rate == nil)
            let start = bench.clock.monotonic()
            _ = try Delivery(&bench.sensor, block: 16, atMost: 6000)
            let seconds = Double(bench.clock.monotonic() - start) / 1e9
            // 100 Hz, 16 samples: 6.25 blocks a second, of a level and the data each, and the check.
            let blocks = bench.sensor.condition.rate.map { $0.rate / 16 } ?? 0
            #expect(Double(bench.sensor.condition.wakeUps) / seconds < 1.1 * blocks)
            #expect(Double(bench.bus.transfers) / seconds < 2.2 * blocks + 4.2, "\(kind.name)")
        }
    }

    /// Disturbed transfers are tried again; nothing is lost by one that never began.
    @Test(arguments: ChipKind.all) func disturbancesAreRetried(kind: ChipKind) throws {
        var bench = Bench(kind)
        _ = try bench.sensor.open()
        var block = SampleBlock(capacity: 16)
        var values: [Double] = []
        for index in 0..<60 {
            bench.bus.failures = index % 3 == 0 ? [ENXIO] : index % 3 == 1 ? [0, EREMOTEIO, EAGAIN] : []
            _ = try bench.sensor.read(into: &block)
            #expect(!block.gapBefore || index == 0)
            for sample in 0..<block.count { values.append(block[0, sample]) }
        }
        #expect(bench.sensor.condition.retries == 60)
        let first = try #require((0..<10).first { abs(Double($0 - 500) * bench.scale - values[0]) < 1e-9 })
        #expect(values.indices.allSatisfy { abs(values[$0] / bench.scale - Double((first + $0) % 1000 - 500)) < 1e-6 })
    }

    /// A transfer of slots that breaks off in the middle takes samples with it.
    @Test func brokenTransferMakesAGap() throws {
        var bench = Bench(.named("adxl345"))
        _ = try bench.sensor.open()
        _ = try Delivery(&bench.sensor, block: 16, atMost: 2000)
        bench.bus.brokenSlots = 5
        var block = SampleBlock(capacity: 16)
        _ = try bench.sensor.read(into: &block)
        #expect(block.gapBefore && block.lostBefore == 5)
        #expect(bench.sensor.condition.lost == 5)
    }

    /// A FIFO of axes whose next one is not x: the order is found again, and what went is declared.
    @Test func brokenOrderOfAxesIsMended() throws {
        var bench = Bench(.named("adxl355"))
        let chip = try #require(bench.chip as? EmulatedADXL355)
        _ = try bench.sensor.open()
        let before = try Delivery(&bench.sensor, block: 16, atMost: 1500)
        bench.clock.advance(100_000_000)
        chip.pump(bench.clock.monotonic())
        chip.dropAxis()
        let after = try Delivery(&bench.sensor, block: 16, atMost: 500)
        let lastIndex = bench.indices(before).last ?? nil
        let last = try #require(lastIndex)
        let indices = bench.indices(after, from: last + 1)
        let start = try #require(indices[0])
        #expect(indices == (start..<(start + indices.count)).map { $0 })
        #expect(after.marks.map(\.index) == [0] && after.marks[0].lost == start - last - 1)
    }

    @Test func temperatureIsRead() throws {
        var bench = Bench(.named("mpu6050"))
        _ = try bench.sensor.open()
        _ = try Delivery(&bench.sensor, block: 16, atMost: 300)
        // 0xF510 = -2800: -2800 / 340 + 36.53.
        let temperature = try #require(bench.sensor.condition.temperature)
        #expect(abs(temperature - 28.2947) < 1e-3)
    }

    @Test func nearestRateAndRangeAreNamed() throws {
        var bench = Bench(.named("lis3dh"), rate: 110, range: 3)
        let description = try bench.sensor.open()
        #expect(description.rate == 100 && description.range == 4 * standardGravity)
        #expect(description.resolution == 0.002 * standardGravity)
        #expect(
            bench.sensor.condition.notes == [
                "rate 100 Hz, the nearest to 110 Hz", "range 4 g, the smallest that holds 3 g",
            ])
        var wide = Bench(.named("adxl345"), rate: 100, range: 40)
        _ = try wide.sensor.open()
        #expect(wide.sensor.condition.notes == ["range 16 g, the largest"])
    }
}

/// What every driver has to keep, as far as it holds for hardware: a chip that goes on by itself delivers other samples
/// each time, and its blocks end where its FIFO did.
@Suite struct I2CConformanceTests {
    @Test(arguments: ChipKind.all) func life(kind: ChipKind) throws {
        var bench = Bench(kind)
        var block = SampleBlock(capacity: 16)
        block.append(1, 2, 3)
        #expect(throws: SensorError.self) { try bench.sensor.read(into: &block) }
        #expect(block.count == 0)
        bench.sensor.close()
        for _ in 0..<3 {
            let description = try bench.sensor.open()
            #expect(description.driver == "i2c" && description.chip == kind.name && description.clock == .host)
            #expect(try bench.sensor.read(into: &block) == .samples)
            #expect(block.gapBefore && (1...16).contains(block.count))
            // It is the hand of the clock that the block's first sample was taken at, to about a sample.
            let age = bench.clock.wall() - block.time
            let duration = Int64(Double(block.count) * 1e9 / description.rate)
            #expect(age >= duration / 2 && age <= 3 * duration + 50_000_000, "\(kind.name): \(age)")
        }
        // Open twice is as open once; a closed one does not read, and has nothing to say.
        bench.sensor.close()
        #expect(throws: SensorError.self) { try bench.sensor.read(into: &block) }
        #expect(!bench.bus.isOpen && bench.sensor.condition == SensorCondition())
    }

    /// The caller gets a block, or is told why not, within the time of a block and little more.
    @Test(arguments: ChipKind.all) func readsReturnInTime(kind: ChipKind) throws {
        var bench = Bench(kind)
        let rate = try bench.sensor.open().rate
        var block = SampleBlock(capacity: 16)
        for _ in 0..<50 {
            let start = bench.clock.monotonic()
            _ = try bench.sensor.read(into: &block)
            #expect(bench.clock.monotonic() - start < Int64(18e9 / rate) + 10_000_000)
            #expect(block.count > 0)
        }
    }
}
