import CIIO
import Glibc
import SignalProcessing

/// A device while its samples are taken in one of the ways. Everything is given back when this goes.
final class IIOCapture {
    let pacing: Pacing
    /// Nominal samples per second.
    let rate: Double
    let device: IIODevice
    /// Nil when polled.
    private(set) var buffer: BufferedCapture?
    /// Nil when buffered.
    private(set) var values: RawValues?
    /// A timer of a computer's paces it, not the chip's own clock.
    let hasTimer: Bool
    /// Samples per second of the chip, where they are fewer than are taken from it.
    let chipRate: Double?
    /// Ticker that paces the device, where this program does.
    var ticker: Ticker?

    private let context: IIOContext
    private var trigger: DeviceTrigger
    private let clock: any SensorClock
    /// File that fires a sysfs trigger; -1 without one.
    private var firing: Int32 = -1
    /// Largest number of samples that are read together.
    let samples: Int

    /// Starts to capture.
    /// - Parameter block: seconds of samples that are read together, at most.
    init(
        _ context: IIOContext, _ setup: inout DeviceSetup, _ pacing: Pacing, wanted: Double, block: Double,
        clock: any SensorClock
    ) throws(SensorError) {
        self.context = context
        self.pacing = pacing
        self.clock = clock
        device = setup.device
        var trigger = DeviceTrigger(setup.device)
        var rate = wanted
        var slow: Double?
        var hasTimer = false
        do throws(SensorError) {
            switch pacing {
            case .own, .device: rate = try setup.setRate(wanted, paced: false) ?? wanted
            case .assigned(let name):
                let timer = Self.rate(of: name, context)
                let chip = try setup.setRate(timer ?? wanted, paced: timer != nil)
                rate = timer ?? chip ?? wanted
                hasTimer = timer != nil
            case .hrtimer, .sysfs, .polled:
                if let chip = try setup.setRate(wanted, paced: true) { slow = chip < wanted * 0.97 ? chip : nil }
                hasTimer = true
            }
            try trigger.set(pacing, context: context, rate: wanted)
            if let timer = trigger.made?.rate { rate = timer }
            if pacing == .polled {
                let values = try RawValues(setup.device, setup.acceleration)
                self.values = values
                rate = try Self.affordable(values, rate, clock)
            }
            samples = max(1, Int((min(rate, 1e5) * block).rounded()))
            if pacing != .polled {
                // The kernel keeps 4 s while nobody reads.
                buffer = try BufferedCapture(
                    setup.device, setup.acceleration, samples: samples, depth: Int(min(rate, 1e5) * 4))
            }
            if pacing == .sysfs, let folder = trigger.made?.folder {
                firing = open("\(folder)/trigger_now", O_WRONLY | O_CLOEXEC)
                guard firing >= 0 else { throw IIOFailure.error(errno, "\(folder)/trigger_now cannot be opened") }
            }
        } catch {
            buffer = nil
            trigger.restore(context: context)
            throw error
        }
        self.rate = rate
        self.trigger = trigger
        chipRate = slow
        self.hasTimer = hasTimer
        if pacing == .polled || pacing == .sysfs { ticker = Ticker(rate: rate, now: clock.monotonic()) }
    }

    deinit {
        buffer = nil
        values = nil
        if firing >= 0 { close(firing) }
        trigger.restore(context: context)
    }

    /// Reads what the buffer has; returns 0 when nothing came for about a block's duration.
    func refill() throws(SensorError) -> Int {
        guard let buffer else { return 0 }
        if firing >= 0 {
            for _ in 0..<samples { try fire() }
            return try buffer.refill(timeout: 100_000_000)
        }
        return try buffer.refill(timeout: Int64(Double(samples) / rate * 1.5e9))
    }

    /// Takes one sample by the trigger that this program fires itself.
    private func fire() throws(SensorError) {
        guard let (deadline, _) = ticker?.next(now: clock.monotonic()) else { return }
        clock.sleep(until: deadline)
        ticker?.taken(clock.monotonic())
        var one: UInt8 = 0x31
        guard write(firing, &one, 1) == 1 else { throw IIOFailure.error(errno, "the trigger cannot be fired") }
    }

    /// Whether the device is still there; from afar that is not known.
    var isThere: Bool { !device.isLocal || access(device.folder, F_OK) == 0 }

    /// Time without samples after which the device is believed to have stalled (ns).
    var patience: Int64 { Int64(max(2, 5 / rate) * 1e9) }

    /// The rate at which the values can be read one by one, with a tenth of the time left.
    private static func affordable(_ values: RawValues, _ wanted: Double, _ clock: any SensorClock)
        throws(SensorError) -> Double
    {
        _ = try values.read()
        let start = clock.monotonic()
        for _ in 0..<4 { _ = try values.read() }
        let taken = max(1, Double(clock.monotonic() &- start) / 4)
        let most = 0.9e9 / taken
        return wanted <= most ? wanted : most > 2 ? most.rounded(.down) : max(0.1, most)
    }

    /// Hz of a trigger; nil where it has none that is known.
    static func rate(of name: String, _ context: IIOContext) -> Double? {
        let trigger = context.triggers().first { $0.name == name }
        guard let rate = trigger?.read("sampling_frequency").flatMap(DeviceAttributes.number), rate > 0 else {
            return nil
        }
        return rate
    }
}

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
