import Instruments
import SignalProcessing

/// An accelerometer of the kernel's IIO subsystem, on this machine or behind iiod on another one.
struct IIOSensor: SensorDriver {
    private let settings: SensorConfiguration
    private let clock: any SensorClock
    private var session: IIOSession?
    /// Kept while the sensor is away: its rate does not change by that.
    private var timebase: Timebase?
    private var nominal = 0.0
    private var proven: Pacing?

    init(_ settings: SensorConfiguration, clock: any SensorClock = SystemSensorClock()) {
        self.settings = settings
        self.clock = clock
    }

    mutating func open() throws(SensorError) -> SensorDescription {
        close()
        let session = try IIOSession(settings, clock, proven: proven)
        if nominal == session.description.rate {
            timebase?.interrupt()
        } else {
            timebase = nil
        }
        nominal = session.description.rate
        session.timebase = timebase ?? Timebase(nominalRate: nominal)
        self.session = session
        proven = session.pacing
        return session.description
    }

    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        guard let session else { throw SensorError(.fault, "the IIO sensor is not open") }
        try session.read(into: &block)
        return .samples
    }

    mutating func close() {
        if let session { timebase = session.timebase }
        session = nil
    }

    var condition: SensorCondition { session?.condition ?? SensorCondition() }
}

/// An accelerometer from its opening to its closing.
final class IIOSession {
    let description: SensorDescription
    var timebase: Timebase

    private let clock: any SensorClock
    private let capture: IIOCapture
    private var reader: ScanReader
    private var counters = SensorCondition()
    /// Scans of the last refill that are done.
    private var cursor = 0
    /// Clocks at the last refill.
    private var refilled = ClockReading(monotonic: 0, wall: 0)
    /// Monotonic time of the last sample.
    private var lastSample: Int64
    /// A moment that came before its block was begun, and what was left out before it.
    private var due: (deadline: Int64, skipped: Int)?

    /// - Parameter proven: the way that has worked before: a sensor that comes back is not tried in others, which work
    ///   less well.
    init(_ settings: SensorConfiguration, _ clock: any SensorClock, proven: Pacing?) throws(SensorError) {
        self.clock = clock
        let context = try IIOContext(uri: settings.iio.uri)
        context.setTimeout(milliseconds: Int(max(4, 8 / max(settings.rate, 0.1)) * 1000))
        let devices = context.devices()
        var candidates: [DeviceChoice.Candidate] = []
        for device in devices {
            candidates.append(
                DeviceChoice.Candidate(
                    id: device.id, name: device.name, label: device.label, isAccelerometer: device.acceleration != nil,
                    hasBuffer: device.hasBuffer))
        }
        let device = devices[try DeviceChoice.index(settings.iio.device, of: candidates)]
        var setup = try DeviceSetup(device, range: settings.range)
        var notes: [String] = []
        let capture = try Self.start(context, &setup, settings, clock, proven, &notes)
        self.capture = capture
        notes = setup.notes + notes
        notes.append(Self.words(capture.pacing))
        if abs(capture.rate / settings.rate - 1) > 1e-6 {
            notes.append(
                "rate \(DeviceSetup.short(capture.rate)) Hz, the nearest to \(DeviceSetup.short(settings.rate)) Hz")
        }
        if let chip = capture.chipRate {
            notes.append("the chip's own rate is \(DeviceSetup.short(chip)) Hz: samples are read repeatedly")
        }
        counters.notes = notes
        // Drivers of chips with a FIFO spread its stamps as they can.
        let looseness = capture.pacing == .own ? max(5, capture.rate / 20) : 0
        reader = ScanReader(
            rate: capture.rate, conversion: setup.conversion, tolerance: capture.hasTimer ? 0.02 : 0.12,
            looseness: looseness)
        timebase = Timebase(nominalRate: capture.rate)
        lastSample = clock.monotonic()
        description = SensorDescription(
            driver: "iio", chip: device.name.isEmpty ? device.id : device.name, rate: capture.rate, range: setup.range,
            resolution: abs(setup.conversion.scale.x), clock: .host)
        begin()
    }

    /// Tries the ways to take samples, until one gives some.
    private static func start(
        _ context: IIOContext, _ setup: inout DeviceSetup, _ settings: SensorConfiguration, _ clock: any SensorClock,
        _ proven: Pacing?, _ notes: inout [String]
    ) throws(SensorError) -> IIOCapture {
        let device = setup.device
        let names = context.triggers().map { ($0.id, $0.name) }
        var plan = TriggerPlan()
        plan.hasBuffer = device.hasBuffer
        plan.takesTrigger = device.takesTrigger
        plan.hasFIFO = device.hasBufferAttribute("hwfifo_watermark")
        plan.ownTrigger = OwnTrigger.name(of: device, among: names)
        plan.assigned = device.trigger.flatMap { LocalTrigger.isOurs($0) ? nil : $0 }
        plan.assignedRate = plan.assigned.flatMap { IIOCapture.rate(of: $0, context) }
        plan.isLocal = context.isLocal
        var failure = SensorError(
            .unsupported, "\(device.title) cannot be paced by sensor.iio.trigger \(settings.iio.trigger.rawValue)")
        var ways = plan.ways(settings.iio.trigger, rate: settings.rate)
        if let proven, ways.contains(where: proven.isLike) { ways = ways.filter(proven.isLike) }
        for pacing in ways {
            do throws(SensorError) {
                let capture = try IIOCapture(
                    context, &setup, pacing, wanted: settings.rate, block: settings.block, clock: clock)
                try first(capture, clock)
                return capture
            } catch {
                failure = error
                // With a timer that surely fires it is the chip that fails.
                if pacing == .hrtimer || pacing == .sysfs, error.code == .fault { break }
                notes.append("not by \(words(pacing)): \(error.message)")
            }
        }
        throw failure
    }

    /// Waits for the first samples: a trigger can be there and never fire.
    private static func first(_ capture: IIOCapture, _ clock: any SensorClock) throws(SensorError) {
        guard capture.buffer != nil else { return }
        let deadline = clock.monotonic() &+ Int64(max(1.5, 10 / capture.rate) * 1e9)
        while try capture.refill() == 0 {
            guard clock.monotonic() < deadline else {
                throw SensorError(.fault, "\(capture.device.title) delivers no samples")
            }
        }
    }

    private static func words(_ pacing: Pacing) -> String {
        switch pacing {
        case .own: "its own FIFO or thread"
        case .device(let name): "its own trigger \(name)"
        case .assigned(let name): "the trigger \(name) that it had"
        case .hrtimer: "hrtimer trigger"
        case .sysfs: "sysfs trigger, fired by the agent"
        case .polled: "single reads, without a buffer"
        }
    }

    /// How the samples are taken.
    var pacing: Pacing { capture.pacing }

    var condition: SensorCondition {
        var condition = counters
        condition.rate = timebase.rate
        condition.timeError = timebase.timeError
        condition.clockSteps = timebase.clockSteps
        condition.slowReads = timebase.slowReads
        condition.duplicates = reader.duplicates + timebase.duplicates
        if reader.hasStamps == false {
            condition.notes.append("no kernel time stamps: samples are timed when they are read")
        }
        if let ticker = capture.ticker {
            let jitter = ticker.jitter
            let worst = DeviceSetup.short(jitter.worst / 1e6)
            condition.notes.append("jitter \(DeviceSetup.short(jitter.deviation / 1e6)) ms RMS, worst \(worst) ms")
        }
        return condition
    }

    /// Waits for samples and fills the block, which is empty.
    func read(into block: inout SampleBlock) throws(SensorError) {
        repeat {
            if let values = capture.values {
                try poll(values, into: &block)
            } else if !next(into: &block) {
                try refill()
            }
        } while block.count == 0
    }

    // MARK: Buffered

    private func refill() throws(SensorError) {
        counters.wakeUps += 1
        if try capture.refill() > 0 {
            begin()
            return
        }
        guard clock.monotonic() &- lastSample > capture.patience else { return }
        let title = capture.device.title
        guard capture.isThere else { throw SensorError(.missing, "\(title) has disappeared") }
        throw SensorError(.fault, "\(title) has stalled: no samples for \(capture.patience / 1_000_000_000) s")
    }

    /// Looks at what was read.
    private func begin() {
        cursor = 0
        guard let buffer = capture.buffer else { return }
        refilled = clock.reading()
        lastSample = refilled.monotonic
        reader.begin(refilled, stamp: buffer.lastStamp)
    }

    /// Puts the next run into the block; false when nothing is left.
    private func next(into block: inout SampleBlock) -> Bool {
        guard let buffer = capture.buffer, let base = buffer.base,
            let run = reader.run(base, buffer.layout, from: cursor, count: buffer.count, limit: block.capacity)
        else { return false }
        cursor = run.end
        if run.lost > 0 {
            if buffer.hasRunOver {
                counters.overruns += 1
                counters.lost += run.lost
            } else {
                counters.lostTriggers += run.lost
            }
        }
        var moment = refilled
        if let stamp = run.stamp {
            moment = ClockReading(stamp: stamp, now: refilled)
        } else {
            // Without stamps: the last scan came just now, those before it in their turn.
            let later = Int64(Double(buffer.count - run.end) / capture.rate * 1e9)
            moment.wall &-= later
            moment.monotonic &-= later
        }
        let time = timebase.take(count: run.count, lost: run.lost, .stamped(moment))
        guard !time.isDuplicate else { return true }
        reader.decode(run, base, buffer.layout, into: &block)
        block.time = time.time
        block.gapBefore = time.gapBefore
        block.lostBefore = time.lostBefore
        return true
    }

    // MARK: Polled

    private func poll(_ values: RawValues, into block: inout SampleBlock) throws(SensorError) {
        guard var ticker = capture.ticker else { return }
        defer { capture.ticker = ticker }
        var lost = 0
        var moment = refilled
        let limit = min(block.capacity, capture.samples)
        while block.count < limit {
            let next = due ?? ticker.next(now: clock.monotonic())
            due = nil
            if next.skipped > 0 {
                guard block.count == 0 else {
                    due = next
                    break
                }
                lost = next.skipped
                counters.lost += lost
            }
            clock.sleep(until: next.deadline)
            counters.wakeUps += 1
            let before = clock.reading()
            let (x, y, z) = try values.read()
            let half = (clock.monotonic() &- before.monotonic) / 2
            moment = ClockReading(monotonic: before.monotonic &+ half, wall: before.wall &+ half)
            ticker.taken(moment.monotonic)
            let sample = reader.conversion.apply(x, y, z)
            block.append(sample.0, sample.1, sample.2)
        }
        let time = timebase.take(count: block.count, lost: lost, .stamped(moment))
        block.time = time.time
        block.gapBefore = time.gapBefore
        block.lostBefore = time.lostBefore
    }
}
