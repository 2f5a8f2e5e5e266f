import Glibc
import Instruments
import SignalProcessing

/// A chip that is open and measures. A class: the sensor that has it is moved about, this stays where it is.
final class I2CSession {
    static let second: Int64 = 1_000_000_000

    let chip: Chip
    let choice: ChipChoice
    let clock: any SensorClock
    let decoder: SampleDecoder
    /// The line that rises with the watermark.
    let line: DataReadyLine?
    var device: I2CDevice
    var timebase: Timebase
    var condition = SensorCondition()
    /// Bytes as they come from the chip.
    let buffer: ByteBuffer
    /// The same for registers, so that samples that wait in the buffer stay.
    let scratch = ByteBuffer(count: 4)
    /// Samples per transfer, less than wanted where the adapter takes only so many.
    var chunk: Int
    /// Samples are missing before the next one.
    var gap = false
    /// The FIFO may have run over while it was read: it is emptied before it is read again.
    var mustEmpty = false
    /// ns that the bus takes for a sample out of the FIFO, and for its level; 0 before the first.
    var sampleTime = 0.0
    var levelTime = 0.0
    /// A sample that was read behind a gap and opens the next block, without FIFO.
    var pending: PacedSample?
    /// When the last sample was read, without FIFO.
    var lastRead = Int64.min
    private var nextCheck: Int64
    private var nextTemperature: Int64

    init(
        _ chip: Chip, _ choice: ChipChoice, _ device: I2CDevice, line: DataReadyLine?, notes: [String]
    ) {
        self.chip = chip
        self.choice = choice
        self.device = device
        self.line = line
        let clock = device.clock
        self.clock = clock
        let decoder = SampleDecoder(chip, scale: choice.range.step * standardGravity)
        self.decoder = decoder
        timebase = Timebase(nominalRate: choice.rate.hertz)
        buffer = ByteBuffer(count: max(16, (chip.fifo?.depth ?? 1) * decoder.slot))
        chunk = chip.fifo?.kind == .slots ? device.bus.slotLimit : chip.fifo?.depth ?? 1
        condition.notes = notes
        let now = clock.monotonic()
        nextCheck = now + Self.second
        nextTemperature = now
    }

    /// ns from one sample to the next, as measured, else nominal.
    var period: Double { 1e9 / (timebase.rate?.rate ?? choice.rate.hertz) }

    /// Samples per second that the bus can carry; nil while it is not known.
    var busRate: Double? { sampleTime > 0 ? 1e9 / (sampleTime + levelTime / Double(choice.watermark)) : nil }

    func read(into block: inout SampleBlock) throws(SensorError) {
        try watch()
        if let fifo = chip.fifo {
            try readFIFO(fifo, into: &block)
        } else {
            try readPaced(into: &block)
        }
    }

    /// Sets the block's time and gap, and counts.
    func stamp(_ block: inout SampleBlock, _ observation: Timebase.Observation) {
        let time = timebase.take(count: block.count, lost: gap ? nil : 0, observation)
        gap = false
        block.time = time.time
        block.gapBefore = time.gapBefore
        block.lostBefore = time.lostBefore
        condition.lost += time.lostBefore
    }

    /// Once a second: whether this is the chip that was set up, with its settings; seldom, its temperature.
    private func watch() throws(SensorError) {
        let now = clock.monotonic()
        guard now >= nextCheck else { return }
        nextCheck = now + Self.second
        try device.checkAlive(chip, choice)
        guard let temperature = chip.temperature, now >= nextTemperature else { return }
        nextTemperature = now + 10 * Self.second
        try device.read(temperature.register, into: buffer.bytes, count: 2)
        condition.temperature = temperature.celsius(buffer.bytes[0], buffer.bytes[1])
    }

    /// Throws the reason for which no samples came for too long, as far as it can be known.
    func stalled() throws(SensorError) -> Never {
        try device.checkAlive(chip, choice)
        throw SensorError(.fault, "\(chip.name) at \(device.place) delivers no samples")
    }
}

extension Chip.Temperature {
    func celsius(_ first: UInt8, _ second: UInt8) -> Double {
        let bits = bigEndian ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first)
        let raw = unsigned ? Double(bits) : Double(Int16(bitPattern: bits))
        return offset + raw / scale
    }
}
