import CIIO
import Glibc

/// The buffer of a device while it captures. It is disabled when this goes.
final class BufferedCapture {
    /// Scans that were read last; valid until the next refill.
    private(set) var base: UnsafeRawPointer?
    private(set) var count = 0
    private(set) var layout: ScanLayout
    /// Scans that the kernel keeps while nobody reads.
    let depth: Int
    /// Scans that were read one after the other without having to wait for them.
    private var backlog = 0
    /// The same before the last wait.
    private var drained = 0

    private let device: IIODevice
    private let acceleration: [IIOChannel]
    private let stamp: IIOChannel?
    private let buffer: OpaquePointer
    /// Nil from afar: a refill then waits itself.
    private let descriptor: Int32?

    /// Starts the capture.
    /// - Parameters:
    ///   - samples: that are read together.
    ///   - depth: scans that the kernel is to keep.
    init(_ device: IIODevice, _ acceleration: [IIOChannel], samples: Int, depth: Int) throws(SensorError) {
        let stamp = device.channel("timestamp").flatMap { $0.isScanElement ? $0 : nil }
        for channel in device.channels { ciio_channel_disable(channel.pointer) }
        for channel in acceleration { ciio_channel_enable(channel.pointer) }
        if let stamp { ciio_channel_enable(stamp.pointer) }
        let blocks = max(4, (depth + samples - 1) / samples)
        _ = ciio_device_set_kernel_buffers(device.pointer, UInt32(clamping: blocks))
        guard let buffer = ciio_device_create_buffer(device.pointer, samples) else {
            throw IIOFailure.error(errno, "the buffer of \(device.title) cannot be started")
        }
        self.buffer = buffer
        self.device = device
        self.acceleration = acceleration
        self.stamp = stamp
        self.depth = blocks * samples
        let file = device.isLocal ? ciio_buffer_poll_fd(buffer) : -1
        descriptor = file >= 0 && ciio_buffer_set_blocking(buffer, false) == 0 ? file : nil
        guard let layout = Self.layout(buffer, acceleration, stamp), layout.isUsable else {
            ciio_buffer_destroy(buffer)
            let format = acceleration[0].format?.text ?? "none"
            throw SensorError(.unsupported, "the samples of \(device.title) have an unsupported format: \(format)")
        }
        self.layout = layout
    }

    deinit { ciio_buffer_destroy(buffer) }

    /// Reads what there is; waits for it, if there is nothing, for a time at most. Returns 0 when nothing came.
    /// - Parameter timeout: in ns; from afar the context's own time limit holds.
    func refill(timeout: Int64) throws(SensorError) -> Int {
        (base, count) = (nil, 0)
        if let descriptor, isReady(descriptor, 0) {
            drained = 0
        } else if let descriptor {
            (drained, backlog) = (backlog, 0)
            _ = isReady(descriptor, max(1, timeout / 1_000_000))
        }
        let bytes = ciio_buffer_refill(buffer)
        if bytes < 0 {
            let number = Int32(clamping: -bytes)
            if number == EAGAIN || number == EINTR { return 0 }
            if number == ETIMEDOUT {
                throw SensorError(.fault, "\(device.title) has stalled: no samples within the time limit")
            }
            // The kernel's words for a device that is gone.
            throw IIOFailure.error(number, "\(device.title) cannot be read")
        }
        guard let layout = Self.layout(buffer, acceleration, stamp), layout.isUsable else {
            throw SensorError(.fault, "\(device.title) has changed the format of its samples")
        }
        self.layout = layout
        base = ciio_buffer_start(buffer).map { UnsafeRawPointer($0) }
        count = base == nil ? 0 : bytes / layout.step
        backlog += count
        return count
    }

    /// The kernel's buffer was full when this program came to read it, so that what is missing now had no place in it.
    var hasRunOver: Bool { descriptor != nil && max(backlog, drained) >= depth * 9 / 10 }

    /// Stamp of the last scan that was read.
    var lastStamp: Int64? {
        guard let base, count > 0, let element = layout.stamp else { return nil }
        return element.format.decode(base + (count - 1) * layout.step + element.offset)
    }

    private func isReady(_ descriptor: Int32, _ milliseconds: Int64) -> Bool {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waited, 1, Int32(clamping: milliseconds)) > 0
    }

    private static func layout(_ buffer: OpaquePointer, _ acceleration: [IIOChannel], _ stamp: IIOChannel?)
        -> ScanLayout?
    {
        guard let start = ciio_buffer_start(buffer) else { return nil }
        func element(_ channel: IIOChannel) -> ScanLayout.Element? {
            guard let first = ciio_buffer_first(buffer, channel.pointer), let format = channel.format else {
                return nil
            }
            return ScanLayout.Element(offset: first - start, format: format)
        }
        guard let x = element(acceleration[0]), let y = element(acceleration[1]), let z = element(acceleration[2])
        else { return nil }
        return ScanLayout(x: x, y: y, z: z, stamp: stamp.flatMap(element), step: ciio_buffer_step(buffer))
    }
}
