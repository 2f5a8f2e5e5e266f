/// A hash that tells values apart and keeps nothing secret: FNV-1a with 64 bits (Fowler, Noll and Vo).
public struct FNV1a: Sendable {
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    public init() {}

    public mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

    public mutating func add(_ text: String) { for byte in text.utf8 { add(byte) } }

    /// Adds the bits of a number, the lowest byte first.
    public mutating func add(_ number: Double) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            add(UInt8(truncatingIfNeeded: number.bitPattern >> shift))
        }
    }
}
