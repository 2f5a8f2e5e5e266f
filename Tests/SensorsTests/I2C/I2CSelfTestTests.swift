import SignalProcessing
import Testing

@testable import Sensors

@Suite struct I2CSelfTestTests {
    /// A world that does not move.
    private final class StillADXL345: EmulatedADXL345 {
        override func motion(_ index: Int) -> (Int, Int, Int) { (index % 2, 3, 256) }
    }
    private final class StillMPU6050: EmulatedMPU6050 {
        override func motion(_ index: Int) -> (Int, Int, Int) { (index % 2, 3, 4096) }
    }

    private func bench(_ name: String, _ chip: EmulatedChip) -> Bench {
        let kind = ChipKind.named(name)
        nonisolated(unsafe) let chip = chip
        return Bench(ChipKind(name: name, address: kind.address) { chip })
    }

    @Test func adxl345() throws {
        let chip = StillADXL345()
        var bench = bench("adxl345", chip)
        _ = try bench.sensor.open()
        _ = try Delivery(&bench.sensor, block: 16, atMost: 200)
        chip.push = (256, -256, 384)
        let report = try bench.sensor.selfTest()
        #expect(report.passed && report.unit == "m/s^2")
        #expect(abs(report.x.change - standardGravity) < 0.02 && abs(report.z.change - 1.5 * standardGravity) < 1e-9)
        #expect(report.source.contains("ADXL345"))
        // It goes on, at the range and rate from before, with a gap.
        let after = try Delivery(&bench.sensor, block: 16, atMost: 200)
        #expect(after.marks.map(\.index) == [0])
        #expect(after.z.allSatisfy { abs($0 - standardGravity) < 1e-9 })
        chip.push = (256, 256, 384)
        let failed = try bench.sensor.selfTest()
        #expect(!failed.passed && !failed.y.passed && failed.x.passed)
        chip.push = (0, 0, 0)
        #expect(try !bench.sensor.selfTest().passed)
    }

    /// Trim registers 0x52, 0x73, 0x91, 0x1B give the codes 9, 14, 19; the factory's values are 4096 · 0.34 ·
    /// (0.92 / 0.34)^((code − 1) / 30) counts, reckoned here with another program.
    @Test func mpu6050() throws {
        let chip = StillMPU6050()
        var bench = bench("mpu6050", chip)
        _ = try bench.sensor.open()
        chip.push = (1816, 2144, 2532)
        let report = try bench.sensor.selfTest()
        #expect(report.unit == "%" && report.passed)
        #expect(abs(report.x.change) < 0.1 && abs(report.y.change) < 0.1 && abs(report.z.change) < 0.1, "\(report)")
        chip.push = (1816, 1700, 2532)
        #expect(try !bench.sensor.selfTest().passed)
    }
}
