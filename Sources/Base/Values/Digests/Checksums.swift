/// The cyclic redundancy check of miniSEED 3, and of what the spool keeps: CRC-32C (Castagnoli), reflected polynomial
/// 0x82F63B78.
public enum CRC32C {
    private static let table: [UInt32] = (0..<256).map { byte in
        var value = UInt32(byte)
        for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
        return value
    }

    /// The check sum over bytes, those in `zeroed` counted as 0 (the place of the check sum itself).
    public static func checksum(_ bytes: UnsafeRawBufferPointer, zeroed: Range<Int> = 0..<0) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            guard let table = table.baseAddress, let start = bytes.baseAddress else { return 0 }
            let first = start.assumingMemoryBound(to: UInt8.self)
            var crc: UInt32 = 0xFFFF_FFFF
            var index = 0
            while index < bytes.count {
                let byte = index >= zeroed.lowerBound && index < zeroed.upperBound ? 0 : first[index]
                crc = crc >> 8 ^ table[Int((crc ^ UInt32(byte)) & 0xFF)]
                index += 1
            }
            return ~crc
        }
    }
}

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
