extension [UInt8] {
    mutating func appendBig<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
        var shift = T.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
        }
    }

    mutating func appendLittle<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
        var shift = 0
        while shift < T.bitWidth {
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
            shift += 8
        }
    }
}

extension UnsafeRawBufferPointer {
    /// An integer at an offset that the caller has checked, in the given byte order.
    func integer<T: FixedWidthInteger>(_ offset: Int, bigEndian: Bool, as: T.Type = T.self) -> T {
        let value = loadUnaligned(fromByteOffset: offset, as: T.self)
        return bigEndian ? T(bigEndian: value) : T(littleEndian: value)
    }
}
