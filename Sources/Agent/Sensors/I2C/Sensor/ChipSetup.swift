import Glibc
import Instruments
import SignalProcessing

/// Values chosen at `open` for the registers.
struct ChipChoice {
    var rate: Chip.Rate
    var range: Chip.Range
    /// Samples in the FIFO at which it is read.
    var watermark: Int
    /// As the watermark's register takes it.
    var watermarkBits: UInt8

    /// - Parameter block: seconds of samples that are read at once.
    init(_ chip: Chip, rate asked: Double, range: Double, block: Double = 0.16) {
        rate = chip.rate(nearest: asked)
        self.range = chip.range(for: range)
        guard let fifo = chip.fifo else {
            (watermark, watermarkBits) = (1, 0)
            return
        }
        // As long as the agent's blocks, but at most half of the FIFO: then there is as much time again.
        let largest = (fifo.watermarkLargest + fifo.watermarkLess) / fifo.watermarkUnit
        watermark = max(1, min(Int((rate.hertz * block).rounded()), fifo.depth / 2, largest))
        watermarkBits = UInt8(clamping: watermark * fifo.watermarkUnit - fifo.watermarkLess)
    }

    func value(_ step: Chip.Step) -> UInt8 {
        var value = step.value
        if step.choice.contains(.rate) { value |= rate.bits }
        if step.choice.contains(.more) { value |= rate.more }
        if step.choice.contains(.range) { value |= range.bits }
        if step.choice.contains(.watermark) { value |= watermarkBits }
        return value
    }
}

extension I2CDevice {
    private static let millisecond: Int64 = 1_000_000
    /// Longest wait for the end of a reset.
    private static let resetLimit: Int64 = 200 * millisecond

    func wait(milliseconds: Int) {
        if milliseconds > 0 { clock.sleep(until: clock.monotonic() + Int64(milliseconds) * Self.millisecond) }
    }

    /// Writes steps; each waits as long as it says.
    mutating func run(_ steps: [Chip.Step], _ choice: ChipChoice) throws(SensorError) {
        for step in steps {
            if step.mayFail {
                _ = bus.write(address, step.register, choice.value(step))
            } else {
                try write(step.register, choice.value(step))
            }
            wait(milliseconds: Int(step.wait))
        }
    }

    /// Brings the chip to its known state. Its identity has to be confirmed before.
    mutating func reset(_ chip: Chip, _ choice: ChipChoice) throws(SensorError) {
        try run(chip.reset, choice)
        guard let done = chip.resetDone else { return }
        let limit = clock.monotonic() + Self.resetLimit
        while true {
            // While it starts a chip may not answer.
            var value: UInt8 = 0
            let code = bus.read(address, done.register, into: &value, size: 1, slots: 1)
            if code == 0, value & done.mask == done.value { return }
            guard clock.monotonic() < limit else {
                if code != 0 { throw error(code) }
                throw SensorError(.fault, "\(chip.name) at \(place) does not answer after its reset")
            }
            wait(milliseconds: 2)
        }
    }

    /// Starts the chip and reads back what was written.
    mutating func start(_ chip: Chip, _ choice: ChipChoice, interrupt: Bool) throws(SensorError) {
        if interrupt { try run(chip.interrupt, choice) }
        try run(chip.start, choice)
        if interrupt { try verify(chip, chip.interrupt, choice) }
        try verify(chip, chip.start, choice)
    }

    private mutating func verify(
        _ chip: Chip, _ steps: [Chip.Step], _ choice: ChipChoice
    ) throws(SensorError) {
        for (index, step) in steps.enumerated() where step.check != 0 {
            // A register that is written twice holds what was written last.
            if steps[(index + 1)...].contains(where: { $0.register == step.register }) { continue }
            let (value, wanted) = (try read(step.register), choice.value(step))
            guard (value ^ wanted) & step.check != 0 else { continue }
            throw SensorError(
                .fault,
                "\(chip.name) at \(place): register \(hex(step.register)) reads \(hex(value)) after \(hex(wanted)) was written"
            )
        }
    }

    /// Whether the chip is the one that was set up, and still is.
    mutating func checkAlive(_ chip: Chip, _ choice: ChipChoice) throws(SensorError) {
        try confirm(chip)
        guard let step = chip.start.last(where: { $0.register == chip.sentry }) else { return }
        let value = try read(step.register)
        if (value ^ choice.value(step)) & step.check != 0 {
            throw SensorError(
                .fault, "\(chip.name) at \(place) has lost its settings: was it unplugged, or without power?")
        }
    }
}

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
