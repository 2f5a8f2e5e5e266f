/// SHA-256 (FIPS 180-4), fed in pieces.
public struct SHA256: Sendable {
    private var state: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19
    )
    private var block = [UInt8](repeating: 0, count: 64)
    private var filled = 0
    private var length: UInt64 = 0
    private var schedule = [UInt32](repeating: 0, count: 64)

    public init() {}

    /// Adds bytes to the message.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        for byte in bytes { push(byte) }
    }

    /// Adds bytes to the message.
    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The digest of all bytes so far, 32 bytes; more can still be added to the original.
    public func digest() -> [UInt8] {
        var copy = self
        return copy.finish()
    }

    /// The digest as 64 lower-case hexadecimal digits.
    public func hexDigest() -> String { Hexadecimal.text(digest()) }

    /// The hexadecimal digest of one piece.
    public static func hexDigest(of bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return hash.hexDigest()
    }

    /// The hexadecimal digest of a text's UTF-8.
    public static func hexDigest(of text: String) -> String { hexDigest(of: Array(text.utf8)) }

    private mutating func push(_ byte: UInt8) {
        block[filled] = byte
        filled += 1
        guard filled == 64 else { return }
        compress()
        filled = 0
    }

    private mutating func finish() -> [UInt8] {
        let bits = length &* 8
        push(0x80)
        while filled != 56 { push(0) }
        for shift in stride(from: 56, through: 0, by: -8) { push(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
        var out: [UInt8] = []
        for word in [state.0, state.1, state.2, state.3, state.4, state.5, state.6, state.7] {
            for shift in stride(from: 24, through: 0, by: -8) { out.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return out
    }

    private mutating func compress() {
        for i in 0..<16 {
            schedule[i] =
                UInt32(block[4 * i]) << 24 | UInt32(block[4 * i + 1]) << 16 | UInt32(block[4 * i + 2]) << 8
                | UInt32(block[4 * i + 3])
        }
        for i in 16..<64 {
            let w15 = schedule[i - 15]
            let w2 = schedule[i - 2]
            let s0 = Self.rotate(w15, 7) ^ Self.rotate(w15, 18) ^ (w15 >> 3)
            let s1 = Self.rotate(w2, 17) ^ Self.rotate(w2, 19) ^ (w2 >> 10)
            schedule[i] = schedule[i - 16] &+ s0 &+ schedule[i - 7] &+ s1
        }
        var (a, b, c, d, e, f, g, h) = state
        for i in 0..<64 {
            let s1 = Self.rotate(e, 6) ^ Self.rotate(e, 11) ^ Self.rotate(e, 25)
            let choice = (e & f) ^ (~e & g)
            let t1 = h &+ s1 &+ choice &+ Self.constants[i] &+ schedule[i]
            let s0 = Self.rotate(a, 2) ^ Self.rotate(a, 13) ^ Self.rotate(a, 22)
            let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
        }
        state = (
            state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d,
            state.4 &+ e, state.5 &+ f, state.6 &+ g, state.7 &+ h
        )
    }

    private static func rotate(_ x: UInt32, _ n: UInt32) -> UInt32 { x >> n | x << (32 - n) }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

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
