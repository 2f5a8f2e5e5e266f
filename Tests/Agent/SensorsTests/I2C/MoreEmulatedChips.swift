// Chips of the other families, written from their data sheets.

final class EmulatedMPU6500: EmulatedMPU6050 {
    private let whoAmI: UInt8
    private let bytes: Int
    private let behind: [UInt8]
    init(_ whoAmI: UInt8, _ bytes: Int, _ behind: [UInt8]) {
        (self.whoAmI, self.bytes, self.behind) = (whoAmI, bytes, behind)
        super.init()
    }
    override var identity: UInt8 { whoAmI }
    override var size: Int { bytes }
    override var tail: [UInt8] { behind }
}

/// One sample, which the next one overwrites; the flags stand before the data and go when these are read.
final class EmulatedMMA8452: EmulatedChip {
    override func powerOn() {
        super.powerOn()
        registers[0x0D] = 0x2A
    }
    override var rate: Double? { mmaRate(registers[0x2A]) }
    override var usesFIFO: Bool { false }
    override var selfTest: Bool { registers[0x2B] & 0x80 != 0 }
    override func wrote(_ register: UInt8, _ value: UInt8) { if register == 0x2B, value & 0x40 != 0 { powerOn() } }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        registers[0x00] = (fifo.isEmpty ? 0 : 0x0F) | (overrun ? 0xF0 : 0)
        if register == 0x01 || register == 0x00 && count > 1 {
            registers.replaceSubrange(0x01..<0x07, with: Self.big(pop(), shift: 4))
            overrun = false
        }
        return super.bytes(register, count)
    }
}

final class EmulatedMMA8451: EmulatedChip {
    override func powerOn() {
        super.powerOn()
        registers[0x0D] = 0x1A
    }
    override var rate: Double? { mmaRate(registers[0x2A]) }
    override var usesFIFO: Bool { registers[0x09] >> 6 == 1 }
    override var selfTest: Bool { registers[0x2B] & 0x80 != 0 }
    override func wrote(_ register: UInt8, _ value: UInt8) { if register == 0x2B, value & 0x40 != 0 { powerOn() } }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        if register == 0x00 { registers[0x00] = UInt8(fifo.count) | (overrun ? 0x80 : 0) }
        guard register == 0x01 else { return super.bytes(register, count) }
        overrun = false
        return Array((0..<(count + 5) / 6).flatMap { _ in Self.big(pop(), shift: 2) }.prefix(count))
    }
}

/// CTRL_REG1 of the MMA845x: ACTIVE and DR; it takes no other register while it is active.
private func mmaRate(_ control: UInt8) -> Double? {
    control & 1 == 0 ? nil : [800, 400, 200, 100, 50, 12.5, 6.25, 1.56][Int(control >> 3 & 7)]
}

/// Single axes of three bytes wait; the lowest bit marks x, the second lowest that nothing is there.
final class EmulatedADXL355: EmulatedChip {
    private var axes: [[UInt8]] = []
    override func powerOn() {
        super.powerOn()
        axes = []
        registers.replaceSubrange(0..<4, with: [0xAD, 0x1D, 0xED, 0x01])
        registers[0x06...0x07] = [0x07, 0x0C]
        (registers[0x29], registers[0x2C], registers[0x2D]) = (0x60, 0x81, 0x01)
    }
    override var rate: Double? { registers[0x2D] & 1 == 1 ? nil : 4000 / Double(1 << Int(registers[0x28] & 15)) }
    override func sample(_ index: Int) {
        let value = value(index)
        for (axis, count) in [value.0, value.1, value.2].enumerated() {
            let bits = UInt32(truncatingIfNeeded: count << 4) | (axis == 0 ? 1 : 0)
            axes.append([UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)])
        }
        if axes.count > 96 {
            overrun = true
            axes.removeFirst(axes.count - 96)
        }
    }
    /// The next to be read is no longer x.
    func dropAxis() { axes.removeFirst() }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        if register == 0x2F, value == 0x52 { powerOn() }
    }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        if register == 0x05 { registers[0x05] = UInt8(axes.count) }
        if register == 0x04 {
            registers[0x04] = overrun ? 0x04 : 0
            overrun = false
        }
        guard register == 0x11 else { return super.bytes(register, count) }
        let taken = axes.prefix(count / 3)
        axes.removeFirst(taken.count)
        let bytes = taken.flatMap { $0 }
        return bytes + (bytes.count..<count).map { $0 % 3 == 2 ? 0x02 : 0x00 }
    }
}

final class EmulatedLIS2DW12: EmulatedChip {
    override func powerOn() {
        super.powerOn()
        (registers[0x0F], registers[0x21]) = (0x44, 0x04)
        registers[0x0D...0x0E] = [0x40, 0xFF]
    }
    override var rate: Double? {
        let rates: [Double?] = [nil, 12.5, 12.5, 25, 50, 100, 200, 400, 800, 1600]
        return rates[min(9, Int(registers[0x20] >> 4))]
    }
    override var usesFIFO: Bool { registers[0x2E] >> 5 == 6 }
    override var selfTest: Bool { registers[0x22] & 0xC0 == 0x40 }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        if register == 0x21, value & 0x40 != 0 { powerOn() }
        if register == 0x2E, value >> 5 == 0 { fifo = [] }
    }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        if register == 0x2F { registers[0x2F] = UInt8(fifo.count) | (overrun ? 0x40 : 0) }
        guard register == 0x28 else { return super.bytes(register, count) }
        overrun = false
        return Array((0..<(count + 5) / 6).flatMap { _ in Self.little(pop(), shift: 2) }.prefix(count))
    }
}

/// Words of seven bytes with a tag; now and then one of another sensor.
final class EmulatedLSM6DSO: EmulatedChip {
    private var words: [[UInt8]] = []
    override func powerOn() {
        super.powerOn()
        words = []
        (registers[0x0F], registers[0x12]) = (0x6C, 0x04)
    }
    override var depth: Int { 512 }
    override var selfTest: Bool { registers[0x14] & 3 == 1 }
    override var rate: Double? {
        let rates: [Double?] = [nil, 12.5, 26, 52, 104, 208, 416, 833, 1666, 3332, 6664]
        return rates[min(10, Int(registers[0x10] >> 4))]
    }
    override func sample(_ index: Int) {
        fifo = [index]
        guard registers[0x0A] & 7 == 6, registers[0x09] & 15 == registers[0x10] >> 4 else { return }
        if index == 2 { words.append([0x28, 1, 2, 3, 4, 5, 6]) }
        words.append([0x12] + Self.little(value(index)))
        if words.count > 512 {
            overrun = true
            words.removeFirst(words.count - 512)
        }
    }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        if register == 0x12, value & 1 != 0 { powerOn() }
        if register == 0x0A, value & 7 == 0 { words = [] }
    }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        if register == 0x3A {
            registers[0x3A] = UInt8(words.count & 0xFF)
            registers[0x3B] = UInt8(words.count >> 8) | (overrun ? 0x48 : 0)
            overrun = false
        }
        if register == 0x28 { registers.replaceSubrange(0x28..<0x2E, with: Self.little(pop())) }
        guard register == 0x78 else { return super.bytes(register, count) }
        let taken = words.prefix(count / 7)
        words.removeFirst(taken.count)
        return taken.flatMap { $0 } + [UInt8](repeating: 0, count: count - 7 * taken.count)
    }
}

final class EmulatedADXL313: EmulatedADXL345 {
    override func powerOn() {
        super.powerOn()
        registers.replaceSubrange(0..<4, with: [0xAD, 0x1D, 0xCB, 0x02])
    }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        super.wrote(register, value)
        if register == 0x18, value == 0x52 { powerOn() }
    }
}

/// FIFO of bytes without headers; a command register.
final class EmulatedBMI160: EmulatedChip {
    private var queue: [UInt8] = []
    private var isOn = false
    override func powerOn() {
        super.powerOn()
        (queue, isOn) = ([], false)
        (registers[0x00], registers[0x40], registers[0x41], registers[0x47]) = (0xD1, 0x28, 0x03, 0x10)
    }
    override var rate: Double? { isOn ? 100 * Double(1 << Int(registers[0x40] & 15)) / 256 : nil }
    override var depth: Int { 170 }
    override var selfTest: Bool { registers[0x6D] & 0x05 == 0x05 }
    override func sample(_ index: Int) {
        fifo = [index]
        guard registers[0x47] & 0x50 == 0x40 else { return }
        queue += Self.little(value(index))
        if queue.count > 1024 { queue.removeFirst(queue.count - 1020) }
    }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        guard register == 0x7E else { return }
        registers[0x7E] = 0
        switch value {
        case 0xB6: powerOn()
        case 0x11: isOn = true
        case 0xB0: queue = []
        default: break
        }
    }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        if register == 0x22 {
            (registers[0x22], registers[0x23]) = (UInt8(queue.count & 0xFF), UInt8(queue.count >> 8))
        }
        if register == 0x12 { registers.replaceSubrange(0x12..<0x18, with: Self.little(pop())) }
        guard register == 0x24 else { return super.bytes(register, count) }
        let taken = Array(queue.prefix(count))
        queue.removeFirst(taken.count)
        return taken + [UInt8](repeating: 0x80, count: count - taken.count)
    }
}
