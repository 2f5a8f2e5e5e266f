/// A buffer of 86 samples, read without counting up; most registers take nothing while it measures, and a reset is not
/// acknowledged. Written from the manual.
final class EmulatedKX134: EmulatedChip {
    private var isActive: Bool { registers[0x1B] & 0x80 != 0 }
    private var isPushed = false

    override func powerOn() {
        super.powerOn()
        isPushed = false
        (registers[0x13], registers[0x1C], registers[0x21], registers[0x22]) = (0x46, 0x3F, 0x06, 0x10)
    }
    override var rate: Double? { isActive ? 0.78125 * Double(1 << Int(registers[0x21] & 15)) : nil }
    override var depth: Int { 86 }
    override var usesFIFO: Bool { registers[0x5F] & 0xC3 == 0xC1 }
    override var selfTest: Bool { isPushed }

    override func write(_ register: UInt8, _ value: UInt8, _ now: Int64) -> Bool {
        if isActive, ![0x1B, 0x5E, 0x5F, 0x62].contains(register) { return true }
        if register == 0x1C, value & 0x80 != 0 {
            powerOn()
            return false
        }
        return super.write(register, value, now)
    }
    override func wrote(_ register: UInt8, _ value: UInt8) {
        if register == 0x5D { isPushed = value == 0xCA }
        // BUF_CLEAR, buffer off, stand-by.
        if register == 0x62 || register == 0x5F && value & 0x80 == 0 || !isActive { fifo = [] }
    }
    override func bytes(_ register: UInt8, _ count: Int) -> [UInt8] {
        if register == 0x60 {
            let level = 6 * fifo.count
            (registers[0x60], registers[0x61]) = (UInt8(level & 0xFF), UInt8(level >> 8))
        }
        if register == 0x5D { return [0] }
        if register == 0x08 { registers.replaceSubrange(0x08..<0x0E, with: Self.little(pop())) }
        guard register == 0x63 else { return super.bytes(register, count) }
        overrun = false
        return Array((0..<(count + 5) / 6).flatMap { _ in Self.little(pop()) }.prefix(count))
    }
}
