import Glibc
import Instruments
import SignalProcessing

/// An accelerometer chip on an I2C bus that no driver of the kernel has. One driver for all chips: what it has to know
/// of each stands in `Chip`. Nothing is written to a chip before its identity registers have been read and match.
public struct I2CSensor: SensorDriver {
    private let settings: SensorConfiguration
    private let bus: any I2CBus
    private let clock: any SensorClock
    private var session: I2CSession?

    /// - Parameter bus: instead of the kernel's, for tests.
    public init(
        _ settings: SensorConfiguration, bus: (any I2CBus)? = nil, clock: any SensorClock = SystemSensorClock()
    ) {
        self.settings = settings
        self.bus = bus ?? LinuxI2CBus(number: settings.i2c.bus)
        self.clock = clock
    }

    public mutating func open() throws(SensorError) -> SensorDescription {
        close()
        do throws(SensorError) {
            try bus.open(identifyOnly: false)
            var (chip, device) = try ChipFinder(settings.i2c, bus: bus, clock: clock).find()
            let choice = ChipChoice(
                chip, rate: settings.rate, range: settings.range / standardGravity, block: settings.block)
            var line: DataReadyLine?
            if !settings.i2c.dataReady.isEmpty {
                guard !chip.interrupt.isEmpty else {
                    throw SensorError(
                        .unsupported, "\(chip.name) has no line for its watermark: leave sensor.i2c.data_ready empty")
                }
                line = try DataReadyLine(settings.i2c.dataReady)
            }
            try device.reset(chip, choice)
            try device.start(chip, choice, interrupt: line != nil)
            session = I2CSession(chip, choice, device, line: line, notes: notes(chip, choice))
            return SensorDescription(
                driver: "i2c", chip: chip.name, rate: choice.rate.hertz, range: choice.range.g * standardGravity,
                resolution: choice.range.step * standardGravity, clock: .host)
        } catch {
            bus.close()
            throw error
        }
    }

    public mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        guard session != nil else { throw SensorError(.fault, "the chip is not open") }
        try session?.read(into: &block)
        return .samples
    }

    public mutating func close() {
        session = nil
        bus.close()
    }

    public var condition: SensorCondition {
        guard let session else { return SensorCondition() }
        var condition = session.condition
        condition.rate = session.timebase.rate
        condition.busRate = session.busRate
        condition.timeError = session.timebase.timeError
        condition.clockSteps = session.timebase.clockSteps
        condition.slowReads = session.timebase.slowReads
        return condition
    }

    public mutating func selfTest() throws(SensorError) -> SelfTestReport {
        guard session != nil else { throw SensorError(.fault, "the chip is not open") }
        guard let report = try session?.selfTest() else {
            throw SensorError(.unsupported, "this chip has no self-test with limits")
        }
        return report
    }

    /// Notes on values that differ from those asked for.
    private func notes(_ chip: Chip, _ choice: ChipChoice) -> [String] {
        var notes: [String] = []
        if abs(choice.rate.hertz / settings.rate - 1) > 1e-6 {
            notes.append("rate \(text(choice.rate.hertz)) Hz, the nearest to \(text(settings.rate)) Hz")
        }
        let asked = settings.range / standardGravity
        if choice.range.g < asked * 0.999 {
            notes.append("range \(text(choice.range.g)) g, the largest")
        } else if choice.range.g > asked * 1.1 {
            notes.append("range \(text(choice.range.g)) g, the smallest that holds \(text(asked)) g")
        }
        if !chip.lookalikes.isEmpty, settings.i2c.chip == "auto" {
            notes.append("identified as \(chip.name); same identity: \(chip.lookalikes)")
        }
        return notes
    }

    /// A number with at most two decimals.
    private func text(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        if hundredths % 100 == 0 { return String(hundredths / 100) }
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

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
