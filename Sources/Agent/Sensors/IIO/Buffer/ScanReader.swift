import SignalProcessing

/// Cuts what was read from a buffer into runs without a hole, by the time stamps of the scans, and decodes them. No I/O.
struct ScanReader: Sendable {
    /// Scans that follow each other.
    struct Run: Sendable, Equatable {
        var start: Int
        var count: Int
        /// Ticks without a sample before it.
        var lost: Int
        /// Stamp of its last scan; nil where stamps are of no use.
        var stamp: Int64?
        var end: Int { start + count }
    }

    var conversion: Conversion
    /// Scans that came twice.
    private(set) var duplicates = 0
    /// Nil until the first stamps have been seen, then whether they say anything.
    private(set) var hasStamps: Bool?

    private let period: Double
    private var track: StampTrack
    /// Step of the track at the scan at which the last run ended.
    private var held: StampTrack.Step?
    /// Wall clock less monotonic clock when it was last read; how far it was set since, and for how many reads this counts.
    private var offset: Int64?
    private var steppedBy: Double = 0
    private var stepAge = 0

    /// - Parameters:
    ///   - rate: nominal, in Hz.
    ///   - tolerance, looseness: see ``StampTrack``.
    init(rate: Double, conversion: Conversion, tolerance: Double = 0.12, looseness: Double = 0) {
        period = 1e9 / rate
        track = StampTrack(rate: rate, tolerance: tolerance, looseness: looseness)
        self.conversion = conversion
    }

    /// To be told before the runs of what was read now.
    /// - Parameter stamp: of the last scan that was read; nil without one.
    mutating func begin(_ now: ClockReading, stamp: Int64?) {
        if hasStamps == nil {
            // Some drivers give 0 always; a machine far away may have no idea of the time.
            hasStamps = stamp.map { $0 > 0 && abs($0 &- now.wall) < 60_000_000_000 } ?? false
        }
        let new = now.wall &- now.monotonic
        if let offset, Double(abs(new &- offset)) > max(2e6, period / 2) {
            steppedBy = Double(new &- offset)
            stepAge = 0
        } else {
            stepAge += 1
            if stepAge > 2 { steppedBy = 0 }
        }
        offset = new
    }

    /// The next run; nil when nothing is left.
    /// - Parameters:
    ///   - base: the first scan that was read.
    ///   - cursor: scans that are done.
    ///   - count: scans that were read.
    ///   - limit: most that a run may have.
    mutating func run(_ base: UnsafeRawPointer, _ layout: ScanLayout, from cursor: Int, count: Int, limit: Int) -> Run?
    {
        guard hasStamps == true, let element = layout.stamp else {
            let rest = min(count - cursor, limit)
            return rest > 0 ? Run(start: cursor, count: rest, lost: 0, stamp: nil) : nil
        }
        let stamps = Stamps(base: base + element.offset, step: layout.step, count: count, format: element.format)
        var start = cursor
        var lost = 0
        search: while start < count {
            let step = held ?? take(stamps, start)
            held = nil
            switch step {
            case .duplicate:
                duplicates += 1
                start += 1
            case .missing(let ticks):
                lost = ticks
                break search
            case .next, .backwards: break search
            }
        }
        guard start < count else { return nil }
        var end = start + 1
        while end < count, end - start < limit {
            let step = take(stamps, end)
            if step != .next {
                held = step
                break
            }
            end += 1
        }
        return Run(start: start, count: end - start, lost: lost, stamp: stamps[end - 1])
    }

    /// Puts a run into a block, in m/s².
    func decode(_ run: Run, _ base: UnsafeRawPointer, _ layout: ScanLayout, into block: inout SampleBlock) {
        let conversion = conversion
        block.withPlanes(count: run.count) { x, y, z, count in
            var scan = base + run.start * layout.step
            for index in 0..<count {
                (x[index], y[index], z[index]) = conversion.apply(
                    layout.x.format.decode(scan + layout.x.offset), layout.y.format.decode(scan + layout.y.offset),
                    layout.z.format.decode(scan + layout.z.offset))
                scan += layout.step
            }
        }
    }

    /// The time stamps of what was read.
    private struct Stamps {
        let base: UnsafeRawPointer
        let step: Int
        let count: Int
        let format: SampleFormat

        subscript(index: Int) -> Int64 { format.decode(base + index * step) }
    }

    private mutating func take(_ stamps: Stamps, _ index: Int) -> StampTrack.Step {
        let step = track.take(stamps[index]) { ahead in
            index + ahead < stamps.count ? stamps[index + ahead] : nil
        }
        guard case .missing(let ticks) = step, steppedBy > 0 else { return step }
        // The clock was set by just as much: no sample is missing.
        guard abs(Double(ticks) * period - steppedBy) < 1.5 * period + 1e-3 * steppedBy else { return step }
        steppedBy = 0
        return .next
    }
}

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
