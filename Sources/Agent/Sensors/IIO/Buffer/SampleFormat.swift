/// How one value lies in a scan: `le:s12/16>>4` in the words of the kernel's `_type` files.
public struct SampleFormat: Sendable, Equatable {
    /// Bytes that it takes: 1, 2, 4 or 8.
    public var bytes: Int
    /// Bits that count, after the shift.
    public var bits: Int
    public var shift: Int
    public var isSigned: Bool
    var isBigEndian: Bool

    /// Whether it can be decoded here.
    public var isUsable: Bool {
        (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && bits >= 1 && shift >= 0 && bits + shift <= 8 * bytes
    }

    /// The text of the kernel's `_type` file.
    public var text: String {
        "\(isBigEndian ? "be" : "le"):\(isSigned ? "s" : "u")\(bits)/\(8 * bytes)>>\(shift)"
    }

    /// The value at an address, in counts. The format has to be usable, the memory to hold its bytes.
    @inline(__always)
    func decode(_ at: UnsafeRawPointer) -> Int64 {
        var word: UInt64
        switch bytes {
        case 1: word = UInt64(at.loadUnaligned(as: UInt8.self))
        case 2:
            let v = at.loadUnaligned(as: UInt16.self)
            word = UInt64(isBigEndian ? UInt16(bigEndian: v) : UInt16(littleEndian: v))
        case 4:
            let v = at.loadUnaligned(as: UInt32.self)
            word = UInt64(isBigEndian ? UInt32(bigEndian: v) : UInt32(littleEndian: v))
        default:
            let v = at.loadUnaligned(as: UInt64.self)
            word = isBigEndian ? UInt64(bigEndian: v) : UInt64(littleEndian: v)
        }
        word &>>= UInt64(shift)
        let unused = Int64(64 - bits)
        let left = Int64(bitPattern: word) &<< unused
        return isSigned ? left &>> unused : Int64(bitPattern: UInt64(bitPattern: left) &>> UInt64(unused))
    }
}

/// Where the values of a scan lie: x, y, z and the time stamp.
struct ScanLayout: Sendable, Equatable {
    struct Element: Sendable, Equatable {
        var offset: Int
        var format: SampleFormat
    }
    var x: Element
    var y: Element
    var z: Element
    /// Nanoseconds; nil where the device has none.
    var stamp: Element?
    /// Bytes from one scan to the next.
    var step: Int

    /// Whether all elements can be decoded and lie within a scan.
    var isUsable: Bool {
        func good(_ element: Element) -> Bool {
            element.format.isUsable && element.offset >= 0 && element.offset + element.format.bytes <= step
        }
        return step > 0 && good(x) && good(y) && good(z) && (stamp.map(good) ?? true)
    }
}

/// From counts to m/s² along the board's axes: matrix · scale · (counts + offset).
struct Conversion: Sendable, Equatable {
    /// m/s² per count, per axis.
    var scale = SIMD3<Double>(repeating: 1)
    /// Counts, added first.
    var offset = SIMD3<Double>(repeating: 0)
    /// Nil: the chip's axes are the board's.
    var mount: MountMatrix?

    @inline(__always)
    func apply(_ x: Int64, _ y: Int64, _ z: Int64) -> (Double, Double, Double) {
        let ax = (Double(x) + offset.x) * scale.x
        let ay = (Double(y) + offset.y) * scale.y
        let az = (Double(z) + offset.z) * scale.z
        guard let rows = mount?.rows else { return (ax, ay, az) }
        return (
            rows.0.x * ax + rows.0.y * ay + rows.0.z * az, rows.1.x * ax + rows.1.y * ay + rows.1.z * az,
            rows.2.x * ax + rows.2.y * ay + rows.2.z * az
        )
    }
}
