import SignalProcessing
import Testing

@testable import Sensors

@Suite struct I2CSelfTestTests {
    private func bench(_ name: String) -> Bench {
        let bench = Bench(.named(name))
        bench.chip.isStill = true
        return bench
    }

    /// Every procedure: changes within the limits pass, none fail, and the samples go on as before.
    @Test(
        arguments: [
            ("adxl313", (800, -800, 1600)), ("lis3dh", (300, -300, 500)), ("mpu6500", (5866, 8144, 10978)),
            ("mpu9250", (5000, 8000, 9000)), ("mpu6886", (5866, 8144, 10978)), ("mma8451", (181, 255, 1680)),
            ("mma8452", (45, 64, 420)), ("lis2dw12", (500, -600, 900)), ("lsm6dso", (2000, 3000, -4000)),
            ("bmi160", (4500, 4500, 4000)), ("kx134-1211", (2048, -1500, 3000)),
        ] as [(String, (Int, Int, Int))])
    func procedure(name: String, change: (Int, Int, Int)) throws {
        var bench = bench(name)
        _ = try bench.sensor.open()
        bench.chip.push = change
        let report = try bench.sensor.selfTest()
        #expect(report.passed, "\(report)")
        #expect(!report.source.isEmpty && report.unit == (name.hasPrefix("mpu") ? "%" : "m/s^2"))
        let after = try Delivery(&bench.sensor, block: 16, atMost: 200)
        #expect(after.marks.map(\.index) == [0])
        #expect(after.y.allSatisfy { abs($0 - 3 * bench.scale) < 1e-9 })
        bench.chip.push = (0, 0, 0)
        #expect(try !bench.sensor.selfTest().passed)
        bench.chip.push = (change.0, change.1, 0)
        let partial = try bench.sensor.selfTest()
        #expect(partial.x.passed && partial.y.passed && !partial.z.passed, "\(partial)")
    }

    @Test func chipsWithoutLimitsSaySo() throws {
        var bench = bench("adxl355")
        _ = try bench.sensor.open()
        #expect(throws: SensorError(.unsupported, "this chip has no self-test with limits")) {
            _ = try bench.sensor.selfTest()
        }
    }

    @Test func adxl345() throws {
        var bench = bench("adxl345")
        let chip = bench.chip
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
        var bench = bench("mpu6050")
        let chip = bench.chip
        _ = try bench.sensor.open()
        chip.push = (1816, 2144, 2532)
        let report = try bench.sensor.selfTest()
        #expect(report.unit == "%" && report.passed)
        #expect(abs(report.x.change) < 0.1 && abs(report.y.change) < 0.1 && abs(report.z.change) < 0.1, "\(report)")
        chip.push = (1816, 1700, 2532)
        #expect(try !bench.sensor.selfTest().passed)
    }
}
