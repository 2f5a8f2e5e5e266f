import Glibc
import Instruments
import SignalProcessing
import Testing

@testable import Sensors

@Suite struct I2CFaultTests {
    private func openingError(_ bench: inout Bench) -> SensorError? {
        do throws(SensorError) {
            _ = try bench.sensor.open()
            return nil
        } catch {
            return error
        }
    }

    /// The wrong chip is named and never written to.
    @Test(arguments: ChipKind.all) func wrongIdentityIsNotWrittenTo(kind: ChipKind) throws {
        var bench = Bench(kind)
        let identity = try #require(Chip.named(kind.name)?.identity.last)
        bench.chip.registers[Int(identity.register)] = 0x5A
        let failure = openingError(&bench)
        let error = try #require(failure)
        #expect(error.code == .identity)
        #expect(error.message.contains("holds 0x5a, expected \(hex(identity.value))"))
        #expect(bench.bus.writes.isEmpty && !bench.bus.isOpen)
    }

    @Test func automaticChoiceWritesOnlyToWhatItKnows() throws {
        for kind in ChipKind.all {
            var bench = Bench(kind, auto: true)
            let stranger = EmulatedChip()
            stranger.registers = [UInt8](repeating: 0xC3, count: 256)
            bench.bus.chips[kind.address == 0x19 ? 0x18 : 0x19] = stranger
            #expect(try bench.sensor.open().chip == kind.name)
            #expect(bench.bus.writes.allSatisfy { $0.address == kind.address })
        }
    }

    @Test func whatIsMissingIsSaid() throws {
        var bench = Bench(.named("adxl345"), auto: true)
        bench.bus.chips = [:]
        let first = openingError(&bench)
        let nobody = try #require(first)
        #expect(nobody.code == .missing && nobody.message.hasPrefix("no known chip answers on /dev/i2c-9 at 0x18, "))
        bench.bus.owners[0x53] = I2COwner(address: 0x53, driver: "adxl345_i2c", device: "adxl345")
        let second = openingError(&bench)
        let busy = try #require(second)
        #expect(busy.code == .busy && busy.message.contains("adxl345_i2c, has adxl345 at 0x53"))
        #expect(bench.bus.writes.isEmpty)
        var named = Bench(.named("adxl345"))
        named.bus.owners[0x53] = bench.bus.owners[0x53]
        #expect(openingError(&named)?.code == .busy)
        var settings = SensorConfiguration()
        settings.i2c.chip = "adxl999"
        var unknown = I2CSensor(settings, bus: bench.bus, clock: bench.clock)
        #expect(throws: SensorError(.unsupported, "sensor.i2c.chip adxl999: known are \(Chip.names)")) {
            _ = try unknown.open()
        }
    }

    /// Transfers that fail end with the code for it, soon, and `open` mends it as soon as the cause is gone.
    @Test(arguments: [
        (EAGAIN, SensorError.Code.fault), (ETIMEDOUT, .fault), (ENXIO, .missing), (EIO, .fault), (EACCES, .permission),
    ])
    func jamsEndSoonAndAreMended(code: Int32, expected: SensorError.Code) throws {
        var bench = Bench(.named("lis3dh"))
        _ = try bench.sensor.open()
        #expect(bench.failure(reads: 20) == nil)
        bench.bus.jam = code
        let start = bench.clock.monotonic()
        #expect(bench.failure()?.code == expected)
        #expect(bench.clock.monotonic() - start < 800_000_000)
        bench.sensor.close()
        #expect(openingError(&bench)?.code == expected)
        bench.bus.jam = 0
        let again = bench.clock.monotonic()
        #expect(openingError(&bench) == nil)
        #expect(bench.clock.monotonic() - again < 500_000_000)
        let delivery = try Delivery(&bench.sensor, block: 16, atMost: 100)
        #expect(delivery.marks.first?.index == 0)
    }

    @Test func unpluggedAdapterIsMissing() throws {
        var bench = Bench(.named("adxl345"))
        _ = try bench.sensor.open()
        (bench.bus.jam, bench.bus.exists) = (EIO, false)
        #expect(bench.failure()?.code == .missing)
    }

    /// Pulled out and put back between two reads: the chip answers, but no longer measures.
    @Test(arguments: ChipKind.all) func replugIsFoundOut(kind: ChipKind) throws {
        var bench = Bench(kind)
        _ = try bench.sensor.open()
        #expect(bench.failure(reads: 30) == nil)
        bench.chip.powerOn()
        let start = bench.clock.monotonic()
        let failure = bench.failure()
        let error = try #require(failure)
        #expect(error.code == .fault && error.message.contains("has lost its settings"), "\(error)")
        #expect(bench.clock.monotonic() - start < 2_000_000_000)
        let again = bench.clock.monotonic()
        #expect(openingError(&bench) == nil)
        #expect(bench.clock.monotonic() - again < 500_000_000)
    }

    @Test(arguments: ChipKind.all) func anotherChipInItsPlaceIsFoundOut(kind: ChipKind) throws {
        var bench = Bench(kind)
        _ = try bench.sensor.open()
        let identity = try #require(Chip.named(kind.name)?.identity.first)
        bench.chip.registers[Int(identity.register)] = 0x5A
        #expect(bench.failure()?.code == .identity)
    }

    /// Registers that do not take what is written: a broken chip, or one that only looks like this.
    @Test(arguments: ChipKind.all) func settingsAreReadBack(kind: ChipKind) throws {
        final class Deaf: EmulatedChip {
            let inner: EmulatedChip
            init(_ inner: EmulatedChip) {
                self.inner = inner
                super.init()
            }
            override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] { inner.bytes(register, count) }
        }
        var bench = Bench(kind)
        bench.bus.chips[kind.address] = Deaf(bench.chip)
        #expect(openingError(&bench)?.code == .fault)
    }

    @Test(arguments: ChipKind.all) func deadChipDoesNotHang(kind: ChipKind) throws {
        var bench = Bench(kind)
        _ = try bench.sensor.open()
        #expect(bench.failure(reads: 30) == nil)
        bench.chip.dead = true
        let start = bench.clock.monotonic()
        let failure = bench.failure()
        let error = try #require(failure)
        #expect(error.message.contains("delivers no samples"))
        #expect(bench.clock.monotonic() - start < 3_000_000_000)
    }

    @Test func identification() throws {
        for kind in ChipKind.all {
            let bench = Bench(kind)
            try bench.bus.open(identifyOnly: true)
            let chip = try #require(Chip.named(kind.name))
            #expect(
                I2CIdentification.identify(bench.bus, address: kind.address, clock: bench.clock)
                    == .chip(name: chip.name, lookalikes: chip.lookalikes))
            #expect(I2CIdentification.identify(bench.bus, address: 0x50, clock: bench.clock) == .unknown)
            #expect(bench.bus.writes.isEmpty)
        }
        let bench = Bench(.named("lis3dh"))
        try bench.bus.open(identifyOnly: true)
        #expect(I2CIdentification.identify(bench.bus, address: 0x19, clock: bench.clock) == .nothing)
        bench.chip.registers[0x0F] = 0x11
        #expect(I2CIdentification.identify(bench.bus, address: 0x18, clock: bench.clock) == .unknown)
        bench.bus.jam = ETIMEDOUT
        guard case .failed(let error) = I2CIdentification.identify(bench.bus, address: 0x18, clock: bench.clock)
        else { return #expect(Bool(false), "jammed") }
        #expect(error.code == .fault)
    }
}
