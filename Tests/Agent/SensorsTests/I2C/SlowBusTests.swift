import Glibc
import SignalProcessing
import Testing

@testable import Sensors

/// A bus that carries fewer samples than the chip makes: the FIFO runs over while it is read.
@Suite struct SlowBusTests {
    /// A bus on which each sample has a transfer of its own, which takes so many of the chip's periods.
    private static func slow(_ kind: ChipKind, rate: Double = 100, periods: Double) throws -> Bench {
        let bench = Bench(kind, rate: rate)
        let chip = try #require(Chip.named(kind.name))
        let fifo = try #require(chip.fifo)
        bench.bus.longestRead = fifo.slot
        bench.bus.slotLimit = 1
        let period = 1e9 / chip.rate(nearest: rate).hertz
        bench.bus.byteTime = Int64((periods * period - 60_000) / Double(fifo.slot + 3))
        return bench
    }

    /// With an ADXL345 at 100 Hz on a bus that carries 60, an overrun was followed by an overrun for ever: no sample came
    /// out, and the watchdog ended the agent.
    @Test(arguments: ChipKind.withFIFO) func whatABusThatIsTooSlowCarriesIsPublished(kind: ChipKind) throws {
        var bench = try Self.slow(kind, periods: 100.0 / 60)
        let rate = try bench.sensor.open().rate
        var block = SampleBlock(capacity: 16)
        var (count, gaps, lost, longest) = (0, 0, 0, Int64(0))
        var next: Int?
        let start = bench.clock.monotonic()
        while bench.clock.monotonic() - start < 60_000_000_000 {
            let began = bench.clock.monotonic()
            #expect(try bench.sensor.read(into: &block) == .samples)
            longest = max(longest, bench.clock.monotonic() - began)
            if block.gapBefore {
                gaps += 1
                lost += block.lostBefore
                next = nil
            }
            // Between two gaps every sample follows the one before it.
            for sample in 0..<block.count {
                let x = Int((block[0, sample] / bench.scale).rounded())
                if let next { #expect(x == (next + 500) % 1000 - 500, "\(kind.name): sample \(count)") }
                next = x + 1
                count += 1
            }
        }
        let seconds = Double(bench.clock.monotonic() - start) / 1e9
        // Well inside the 30 s of the watchdog.
        #expect(longest < 15_000_000_000, "\(kind.name): \(longest)")
        let share = Double(count) / seconds / rate
        #expect((0.2...0.62).contains(share), "\(kind.name): \(share)")
        let condition = bench.sensor.condition
        #expect(
            gaps > 1 && condition.overruns >= gaps - 1, "\(kind.name): \(gaps) gaps, \(condition.overruns) overruns")
        #expect(condition.lost == lost)
        let missing = 1 - Double(count + lost) / seconds / rate
        #expect(abs(missing) < 0.05, "\(kind.name): \(missing) of the samples are neither there nor declared lost")
        let carried = try #require(condition.busRate) / rate
        #expect((0.5...0.61).contains(carried), "\(kind.name): \(carried)")
    }

    /// So slow that the FIFO is full again before its level is known.
    @Test(arguments: ChipKind.withFIFO) func aHopelessBusDoesNotHoldTheAgentUp(kind: ChipKind) throws {
        var bench = try Self.slow(kind, rate: 400, periods: 60)
        _ = try bench.sensor.open()
        var block = SampleBlock(capacity: 64)
        for _ in 0..<20 {
            let began = bench.clock.monotonic()
            do throws(SensorError) {
                #expect(try bench.sensor.read(into: &block) == .samples)
                #expect(block.count > 0)
            } catch {
                // That is an answer, too; the sensor is opened anew.
                #expect(error.code == .fault)
                _ = try bench.sensor.open()
            }
            #expect(bench.clock.monotonic() - began < 20_000_000_000, "\(kind.name)")
        }
    }

    /// A quick bus, read late once: half of the FIFO is thrown away and the rest used, as before; nothing is set up anew.
    @Test func oneLateReadDoesNotEmptyTheFIFO() throws {
        var bench = Bench(.named("adxl345"))
        _ = try bench.sensor.open()
        _ = try Delivery(&bench.sensor, block: 16, atMost: 2000)
        let writes = bench.bus.writes.count
        bench.clock.advance(1_000_000_000)
        let after = try Delivery(&bench.sensor, block: 16, atMost: 200)
        #expect(after.marks.map(\.index) == [0])
        #expect(bench.bus.writes.count == writes)
        #expect(bench.sensor.condition.overruns == 1)
        let carried = try #require(bench.sensor.condition.busRate)
        #expect((3000...5000).contains(carried), "\(carried)")
    }
}
