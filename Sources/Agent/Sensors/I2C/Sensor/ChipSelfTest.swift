import Glibc
import Instruments
import SignalProcessing

extension I2CSession {
    /// Runs the chip's own self-test and sets it up again; nil when it has none with limits. The samples go on with a
    /// gap. It takes less than a second.
    func selfTest() throws(SensorError) -> SelfTestReport? {
        guard let test = chip.selfTest else { return nil }
        try device.confirm(chip)
        try device.reset(chip, choice)
        try device.run(test.settings, choice)
        let off = try mean(test)
        try device.run(test.on, choice)
        let on = try mean(test)
        try device.run(test.off, choice)
        let expected = try factoryValues(test)
        // From here on as after `open`.
        try device.reset(chip, choice)
        try device.start(chip, choice, interrupt: line != nil)
        timebase.interrupt()
        gap = true
        pending = nil
        return report(test, (on.0 - off.0, on.1 - off.1, on.2 - off.2), expected)
    }

    /// Mean of the newest samples in counts, without the first, which may be of the time before.
    private func mean(_ test: Chip.SelfTest) throws(SensorError) -> (Double, Double, Double) {
        device.wait(milliseconds: test.settle)
        var sum = (0.0, 0.0, 0.0)
        let step = chip.format.bytes
        for index in 0...test.samples {
            try device.read(chip.data, into: buffer.bytes, count: 3 * step)
            device.wait(milliseconds: test.interval)
            guard index > 0 else { continue }
            sum.0 += Double(decoder.count(buffer.bytes))
            sum.1 += Double(decoder.count(buffer.bytes + step))
            sum.2 += Double(decoder.count(buffer.bytes + 2 * step))
        }
        let count = Double(test.samples)
        return (sum.0 / count, sum.1 / count, sum.2 / count)
    }

    /// The factory's measurement, in counts.
    private func factoryValues(
        _ test: Chip.SelfTest
    ) throws(SensorError) -> (Double, Double, Double)? {
        var codes: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
        guard test.expected != .limits else { return nil }
        // SELF_TEST_X, _Y, _Z and, in the MPU-6050, _A.
        codes.0 = try device.read(0x0D)
        codes.1 = try device.read(0x0E)
        codes.2 = try device.read(0x0F)
        guard test.expected == .factory6050 else {
            func value(_ code: UInt8) -> Double { code == 0 ? .nan : 2620 * pow(1.01, Double(code) - 1) }
            return (value(codes.0), value(codes.1), value(codes.2))
        }
        codes.3 = try device.read(0x10)
        let low = codes.3
        func value(_ code: UInt8, _ shift: UInt8) -> Double {
            let trim = ((code >> 5) << 2) | ((low >> shift) & 3)
            return trim == 0 ? .nan : 4096 * 0.34 * pow(0.92 / 0.34, (Double(trim) - 1) / 30)
        }
        return (value(codes.0, 4), value(codes.1, 2), value(codes.2, 0))
    }

    private func report(
        _ test: Chip.SelfTest, _ change: (Double, Double, Double), _ expected: (Double, Double, Double)?
    ) -> SelfTestReport {
        func axis(_ change: Double, _ expected: Double?, _ low: Double, _ high: Double) -> SelfTestReport.Axis {
            if let expected {
                return SelfTestReport.Axis(change: (change / expected - 1) * 100, minimum: low, maximum: high)
            }
            let value = (test.absolute ? abs(change) : change) * test.step * standardGravity
            return SelfTestReport.Axis(
                change: value, minimum: low * standardGravity, maximum: high * standardGravity)
        }
        return SelfTestReport(
            x: axis(change.0, expected?.0, test.minimum.0, test.maximum.0),
            y: axis(change.1, expected?.1, test.minimum.1, test.maximum.1),
            z: axis(change.2, expected?.2, test.minimum.2, test.maximum.2),
            unit: expected == nil ? "m/s^2" : "%", source: test.source)
    }
}
