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
