import MiniSEED
import Values

/// A checksum of everything in a row: flash cards give back wrong bytes now and then, and SQLite does not notice. A row
/// whose end is lost, so that all of it reads as nothing, has another sum than 0.
struct RowSum {
    private var state: UInt64

    init(key: Int64) { state = UInt64(bitPattern: key) }

    mutating func mix(_ value: UInt64) {
        state = (state ^ value) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }

    mutating func mix(_ value: Int64) { mix(UInt64(bitPattern: value)) }

    mutating func mix(_ bytes: UnsafeRawBufferPointer) { mix(UInt64(CRC32C.checksum(bytes))) }

    /// As it is kept in the column `sum`.
    var value: Int64 { Int64(state >> 32) }
}
