// Chips of the first three families, written from their data sheets, not from the driver's tables.

/// A sample is taken out of the FIFO by the read of 0x32; a read must not go over two.
class EmulatedADXL345: EmulatedChip {
    override func powerOn() {
        super.powerOn()
        registers[0x00] = 0xE5
        registers[0x2C] = 0x0A
        registers[0x30] = 0x02
    }
    override var rate: Double? {
        registers[0x2D] & 8 == 0 ? nil : 3200 / Double(1 << (15 - Int(registers[0x2C] & 15)))
    }
    override var usesFIFO: Bool { registers[0x38] >> 6 != 0 }
    override var selfTest: Bool { registers[0x31] & 0x80 != 0 }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        if register == 0x38, value >> 6 == 0 { fifo = [] }
    }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        if register == 0x39 { registers[0x39] = UInt8(fifo.count) }
        if register == 0x30 { registers[0x30] = (fifo.isEmpty ? 0 : 0x80) | (overrun ? 1 : 0) }
        if register == 0x32 {
            registers.replaceSubrange(0x32..<0x38, with: Self.little(pop()))
            overrun = false
        }
        return super.bytes(register, count)
    }
}

/// Bit 7 of a register's number lets it count up; behind 0x2D comes 0x28 and the next sample.
class EmulatedLIS3DH: EmulatedChip {
    override func powerOn() {
        super.powerOn()
        registers[0x0F] = 0x33
        registers[0x20] = 0x07
    }
    override var rate: Double? {
        let rates: [Double?] = [nil, 1, 10, 25, 50, 100, 200, 400, 1620, 1344]
        return rates[min(9, Int(registers[0x20] >> 4))]
    }
    override var usesFIFO: Bool { registers[0x24] & 0x40 != 0 && registers[0x2E] >> 6 == 2 }
    override var selfTest: Bool { registers[0x23] & 0x06 == 0x02 }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        if register == 0x2E, value >> 6 == 0 { fifo = [] }
    }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        var pointer = Int(register & 0x7F)
        var result: [UInt8] = []
        for _ in 0..<count {
            switch pointer {
            case 0x28:
                registers.replaceSubrange(0x28..<0x2E, with: Self.little(pop(), shift: 4))
                overrun = false
            case 0x2F:
                let full = fifo.count == 32
                registers[0x2F] = UInt8(min(31, fifo.count)) | (full ? 0x40 : 0) | (fifo.isEmpty ? 0x20 : 0)
            default: break
            }
            result.append(registers[pointer])
            if register & 0x80 != 0 { pointer = pointer == 0x2D ? 0x28 : (pointer + 1) & 0x7F }
        }
        return result
    }
}

/// FIFO of bytes, which overwrites the oldest and then is no longer at the begin of a sample.
class EmulatedMPU6050: EmulatedChip {
    var identity: UInt8 { 0x68 }
    var size: Int { 1024 }
    /// Bytes after the axes: the temperature, in later chips.
    var tail: [UInt8] { [] }
    var queue: [UInt8] = []
    override func powerOn() {
        super.powerOn()
        queue = []
        registers[0x75] = identity
        registers[0x6B] = 0x40
        registers[0x0D...0x10] = [0x52, 0x73, 0x91, 0x1B]
        registers[0x41...0x42] = [0xF5, 0x10]
    }
    override var rate: Double? {
        guard registers[0x6B] & 0x40 == 0 else { return nil }
        let base = registers[0x1A] & 7 == 0 || registers[0x1A] & 7 == 7 ? 8000.0 : 1000
        return base / (1 + Double(registers[0x19]))
    }
    override var depth: Int { 200 }
    override var selfTest: Bool { registers[0x1C] & 0xE0 == 0xE0 }
    override func sample(_ index: Int) {
        fifo = [index]
        guard registers[0x6A] & 0x40 != 0, registers[0x23] & 0x08 != 0 else { return }
        queue += Self.big(value(index)) + tail
        if queue.count > size {
            overrun = true
            queue.removeFirst(queue.count - size)
        }
    }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        if register == 0x6B, value & 0x80 != 0 { powerOn() }
        if register == 0x6A, value & 0x04 != 0 {
            queue = []
            registers[0x6A] &= ~0x04
        }
    }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        if register == 0x74 {
            let taken = Array(queue.prefix(count))
            queue.removeFirst(taken.count)
            return taken + [UInt8](repeating: 0, count: count - taken.count)
        }
        if register == 0x72 {
            registers[0x72] = UInt8(queue.count >> 8)
            registers[0x73] = UInt8(queue.count & 0xFF)
        }
        if register == 0x3A {
            registers[0x3A] = overrun ? 0x10 : 0
            overrun = false
            defer { registers[0x3A] = 0 }
            return super.bytes(register, count)
        }
        if register == 0x3B { registers.replaceSubrange(0x3B..<0x41, with: Self.big(value(max(0, produced - 1)))) }
        return super.bytes(register, count)
    }
}
