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
