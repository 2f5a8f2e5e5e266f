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
