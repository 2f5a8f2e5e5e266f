import Glibc

@testable import Sensors

/// A bus with chips that are programs, under a clock that stands still until somebody sleeps or transfers.
final class FakeBus: I2CBus {
    let name = "/dev/i2c-9"
    var slotLimit = 21
    let clock: VirtualClock
    var chips: [UInt8: EmulatedChip] = [:]
    /// Addresses that a driver of the kernel has.
    var owners: [UInt8: I2COwner] = [:]
    /// Codes with which the next transfers fail; 0 lets one through.
    var failures: [Int32] = []
    /// Every transfer fails with this after the bus's time limit.
    var jam: Int32 = 0
    /// The adapter takes one read per transfer, as i2c-bcm2835.
    var oneReadOnly = false
    /// Longest read that the adapter takes.
    var longestRead = 8192
    /// ns for a byte: 400 kHz.
    var byteTime: Int64 = 22_500
    /// The next transfer of slots breaks off after so many.
    var brokenSlots = 0
    var isOpen = false
    var exists = true
    var openingError: SensorError?
    /// Written registers, in order; and numbers of transfers.
    var writes: [(address: UInt8, register: UInt8, value: UInt8)] = []
    var transfers = 0

    init(_ clock: VirtualClock, _ chips: [UInt8: EmulatedChip] = [:]) {
        self.clock = clock
        self.chips = chips
    }

    func open(identifyOnly: Bool) throws(SensorError) {
        if let openingError { throw openingError }
        isOpen = true
    }

    func close() { isOpen = false }

    func claim(_ address: UInt8) -> Int32 { owners[address] == nil ? 0 : EBUSY }

    func owner(of address: UInt8) -> I2COwner? { owners[address] }

    private func spend(bytes: Int) { clock.advance(60_000 + Int64(bytes) * byteTime) }

    private func begin(_ address: UInt8) -> Int32 {
        transfers += 1
        guard isOpen else { return EBADF }
        if jam != 0 {
            clock.advance(100_000_000)
            return jam
        }
        if !failures.isEmpty {
            let code = failures.removeFirst()
            if code != 0 { return code }
        }
        return chips[address] == nil ? ENXIO : 0
    }

    func read(
        _ address: UInt8, _ register: UInt8, into data: UnsafeMutablePointer<UInt8>, size: Int, slots: Int
    ) -> Int32 {
        if oneReadOnly, slots > 1 { return EOPNOTSUPP }
        if size > longestRead { return EOPNOTSUPP }
        let code = begin(address)
        if brokenSlots > 0, slots > 1, let chip = chips[address] {
            for _ in 0..<brokenSlots { _ = chip.transfer(register, size, clock.monotonic()) }
            brokenSlots = 0
            return EIO
        }
        guard code == 0, let chip = chips[address] else { return code }
        for slot in 0..<slots {
            spend(bytes: size + 3)
            let bytes = chip.transfer(register, size, clock.monotonic())
            for index in 0..<size { data[slot * size + index] = bytes[index] }
        }
        return 0
    }

    func write(_ address: UInt8, _ register: UInt8, _ value: UInt8) -> Int32 {
        let code = begin(address)
        guard code == 0, let chip = chips[address] else { return code }
        spend(bytes: 3)
        writes.append((address, register, value))
        return chip.write(register, value, clock.monotonic()) ? 0 : EREMOTEIO
    }
}

/// A chip: registers, a pointer that counts up, and samples that come by its own clock.
class EmulatedChip {
    var registers = [UInt8](repeating: 0, count: 256)
    /// True rate over nominal rate.
    var pace = 1.0
    /// Indices of the samples that wait.
    var fifo: [Int] = []
    /// Samples since it was started.
    var produced = 0
    var overrun = false
    /// When the present rate was set; nil while it does not measure.
    var started: Int64?
    /// Counts that the self-test adds.
    var push = (0, 0, 0)
    /// The world does not move.
    var isStill = false
    /// Samples stand still and come no more.
    var dead = false
    private var lastRate: Double?

    init() { powerOn() }

    /// Registers as after power-on.
    func powerOn() {
        registers = [UInt8](repeating: 0, count: 256)
        fifo = []
        started = nil
        lastRate = nil
    }

    /// Samples per second as the registers say; nil: standby.
    var rate: Double? { nil }
    var depth: Int { 32 }
    var usesFIFO: Bool { true }
    var selfTest: Bool { false }

    /// What the world does at a sample, in counts.
    func motion(_ index: Int) -> (Int, Int, Int) {
        isStill ? (index % 2, 3, 256) : (index % 1000 - 500, (index * 7) % 900 - 450, 256 + index % 3)
    }

    func value(_ index: Int) -> (Int, Int, Int) {
        var value = motion(index)
        if selfTest { value = (value.0 + push.0, value.1 + push.1, value.2 + push.2) }
        return value
    }

    /// Time at which a sample was complete.
    func time(of index: Int) -> Int64? {
        guard let started, let lastRate else { return nil }
        return started + Int64((Double(index + 1) * 1e9 / (lastRate * pace)).rounded())
    }

    func pump(_ now: Int64) {
        if rate != lastRate {
            lastRate = rate
            started = rate == nil ? nil : now
            produced = 0
            fifo = []
        }
        guard let started, let rate, !dead else { return }
        let due = Int(Double(now - started) * rate * pace / 1e9)
        if due - produced > 4 * depth {
            produced = due - 4 * depth
            overrun = true
        }
        while produced < due {
            sample(produced)
            produced += 1
        }
    }

    func sample(_ index: Int) {
        fifo.append(index)
        let most = usesFIFO ? depth : 1
        if fifo.count > most {
            overrun = true
            fifo.removeFirst(fifo.count - most)
        }
    }

    /// Takes the oldest sample; the newest stays to be read again.
    func pop() -> (Int, Int, Int) {
        guard let first = fifo.first else { return value(max(0, produced - 1)) }
        fifo.removeFirst()
        return value(first)
    }

    func write(_ register: UInt8, _ value: UInt8, _ now: Int64) -> Bool {
        pump(now)
        registers[Int(register)] = value
        wrote(register, value)
        pump(now)
        return true
    }

    func wrote(_ register: UInt8, _ value: UInt8) {}

    final func transfer(_ register: UInt8, _ count: Int, _ now: Int64) -> [UInt8] {
        pump(now)
        return bytes(register, count)
    }

    /// What a read from a register on gives.
    func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        (0..<count).map { registers[(Int(register) + $0) & 0xFF] }
    }

    static func little(_ value: (Int, Int, Int), shift: Int = 0) -> [UInt8] {
        [value.0, value.1, value.2].flatMap { value -> [UInt8] in
            let bits = UInt16(truncatingIfNeeded: value << shift)
            return [UInt8(bits & 0xFF), UInt8(bits >> 8)]
        }
    }

    static func big(_ value: (Int, Int, Int), shift: Int = 0) -> [UInt8] {
        let bytes = little(value, shift: shift)
        return [bytes[1], bytes[0], bytes[3], bytes[2], bytes[5], bytes[4]]
    }
}
