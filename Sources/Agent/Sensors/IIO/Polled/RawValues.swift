import CIIO
import Glibc

/// The `in_accel_*_raw` of a device, read one by one: through files that stay open on this machine, through libiio from
/// afar.
final class RawValues {
    private let device: IIODevice
    private let acceleration: [IIOChannel]
    private var files: [Int32] = []

    init(_ device: IIODevice, _ acceleration: [IIOChannel]) throws(SensorError) {
        self.device = device
        self.acceleration = acceleration
        for channel in acceleration where !channel.has("raw") {
            throw SensorError(.unsupported, "\(device.title) has no raw value of \(channel.id)")
        }
        guard device.isLocal else { return }
        for channel in acceleration {
            let path = "\(device.folder)/\(channel.file("raw"))"
            let file = open(path, O_RDONLY | O_CLOEXEC)
            let number = errno
            guard file >= 0 else {
                closeFiles()
                throw IIOFailure.error(number, "\(path) cannot be opened")
            }
            files.append(file)
        }
    }

    deinit { closeFiles() }

    private func closeFiles() {
        for file in files { close(file) }
        files.removeAll()
    }

    /// x, y and z in counts.
    func read() throws(SensorError) -> (Int64, Int64, Int64) {
        let x = try value(0)
        let y = try value(1)
        return (x, y, try value(2))
    }

    private func value(_ axis: Int) throws(SensorError) -> Int64 {
        var text: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var number: Int32 = 0
        let value: Int64? = withUnsafeMutableBytes(of: &text) { memory in
            guard let base = memory.baseAddress else { return nil }
            let count: Int
            if files.count == 3 {
                count = pread(files[axis], base, memory.count, 0)
                if count < 0 { number = errno }
            } else {
                count = ciio_channel_attr_read(
                    acceleration[axis].pointer, "raw", base.assumingMemoryBound(to: CChar.self), memory.count)
                if count < 0 { number = Int32(clamping: -count) }
            }
            guard count > 0 else { return nil }
            return Self.integer(UnsafeRawBufferPointer(start: base, count: count))
        }
        if let value { return value }
        guard number != 0 else {
            throw SensorError(.fault, "\(device.title) gives no number for \(acceleration[axis].id)")
        }
        throw IIOFailure.error(number, "\(acceleration[axis].id) of \(device.title) cannot be read")
    }

    /// A decimal integer, up to the first byte that is no digit.
    static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
        var index = 0
        let isNegative = text.first == 0x2D
        if isNegative { index = 1 }
        var value: Int64 = 0
        let first = index
        while index < text.count, index - first < 18, text[index] >= 0x30, text[index] <= 0x39 {
            value = value * 10 + Int64(text[index] - 0x30)
            index += 1
        }
        guard index > first else { return nil }
        return isNegative ? -value : value
    }
}

/// The moments at which a program itself has to take samples, each computed from the first, so that lateness never adds
/// up. Who is late by whole periods leaves them out.
struct Ticker: Sendable {
    private let period: Double
    private let origin: Int64
    private var index: Int64 = 0
    /// How much later than its moment a sample was taken, in ns: mean, mean square, the most.
    private var mean = 0.0
    private var square = 0.0
    private var most = 0.0
    private var seen = 0

    /// - Parameter rate: in Hz.
    init(rate: Double, now: Int64) {
        period = 1e9 / rate
        origin = now
    }

    /// The next moment, on the monotonic clock, and how many were left out before it.
    mutating func next(now: Int64) -> (deadline: Int64, skipped: Int) {
        index += 1
        let behind = Int64((Double(now &- deadline) / period).rounded(.down))
        // Late by less than a period: taken late, not left out.
        guard behind > 0 else { return (deadline, 0) }
        index += behind
        return (deadline, Int(behind))
    }

    /// The sample of the present moment was taken then.
    mutating func taken(_ moment: Int64) {
        let late = Double(max(0, moment &- deadline))
        seen = min(seen + 1, 1000)
        mean += (late - mean) / Double(seen)
        square += (late * late - square) / Double(seen)
        most = max(most, late)
    }

    /// Standard deviation of the moments, and the worst, against their mean, in ns.
    var jitter: (deviation: Double, worst: Double) {
        (max(0, square - mean * mean).squareRoot(), max(0, most - mean))
    }

    private var deadline: Int64 { origin &+ Int64((Double(index) * period).rounded()) }
}
