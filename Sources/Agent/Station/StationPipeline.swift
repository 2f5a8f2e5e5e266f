import Messages
import Seismology
import Settings
import SignalProcessing

/// The whole path of one station's samples: blocks in, messages out. Pure: no clock, no file, no socket; it is driven
/// by the time of the samples alone, so that replay and live run the very same code, and it gives the same bytes for
/// any size of block.
///
/// Sensor → mounting → raw → offset removal → filter → RMS → detection → event; beside it offset removal → ground
/// motion and intensity; and any signal → decimation → trace. A gap, or a sample that is not a number, resets state and
/// never settings.
public struct StationPipeline: ~Copyable {
    /// What has happened since the start.
    public private(set) var status = StationStatus()
    /// Called with every chunk of signals, before the messages that it gives rise to.
    public var onSeries: ((SeriesChunk) -> Void)?
    /// Called with every completed segment of the waveform ring; nil: nobody keeps one.
    public var onSegment: SegmentSink?

    /// In force.
    var configuration: Configuration
    var sensor: StationSensor
    var rate: Double
    /// The sensor's true rate, where it is measured.
    var trueRate: Double?
    var fullScale: Double
    var rules: StationRules

    let planes: Planes
    var holdBack: HoldBack
    var path: SignalPath
    var summary: SummaryBuilder
    var trace: TraceBuilder
    /// Other traces for a while, and how many of their blocks have been sent.
    var stream: TraceBuilder?
    var streamSettings: TraceConfiguration?
    public internal(set) var streamBlocks = 0
    public internal(set) var isStreaming = false
    /// Acceleration for OpenEEW; nil: it is not wanted.
    var openEEW: OpenEEWSender?
    /// Vibration as standards measure it; nil: it is not wanted.
    var vibration: VibrationSender?
    var events: EventRecorder
    var ring: RingWriter
    var messenger: Messenger
    var quality = TimeQuality.replay

    /// The present unbroken stretch: its clock, samples in it that have been loaded and processed.
    var clock: SampleClock?
    var loaded = 0
    var processed = 0
    /// Number of the stretch's first sample since the start; rises by what is missing over a gap.
    var stretchStart: Int64 = 0
    var afterGap = false
    /// Samples since the last good one that were not usable.
    private var badRun = 0
    /// What the one who gives the samples says of them.
    private var fault: InvalidReason?
    /// How far from level the sensor was found; nil while that is not known, or not asked for.
    public internal(set) var level: Level?
    /// Intervals of vibration that were sent; another number: ``vibrationStanding`` may be another.
    public var vibrationIntervals: Int { vibration?.count ?? 0 }
    /// How the last interval of vibration stands to its limit; nil: there is none, or no limit.
    public var vibrationStanding: VibrationMessage.Standing? { vibration?.last }
    /// First sample of the stretch whose numbers are to be trusted, and the first that counts for the level of each
    /// axis, which a change of its filter puts off.
    var validFrom: Int
    var axisValidFrom = PerAxis(0)

    /// - Parameters:
    ///   - configuration: a valid snapshot.
    ///   - sensor: what the sensor said of itself.
    ///   - boot: UUID of this run, as text; goes into every message.
    ///   - revision: of the settings.
    public init(
        configuration: Configuration, sensor: StationSensor, boot: String, revision: Int = 0
    ) throws(StationError) {
        // All that may fail is done before there are stored properties: Swift 6.0.3 cannot compile it between them.
        self.init(try Prepared(configuration, sensor: sensor, boot: boot), revision: revision)
    }

    private init(_ prepared: Prepared, revision: Int) {
        let (configuration, sensor, path) = (prepared.configuration, prepared.sensor, prepared.path)
        self.path = path
        rate = sensor.rate
        fullScale = Self.fullScale(sensor)
        holdBack = HoldBack(length: path.holdBack)
        self.configuration = configuration
        self.sensor = sensor
        rules = StationRules(configuration, path, rate: sensor.rate)
        validFrom = rules.settleSamples
        summary = SummaryBuilder(configuration, rate: sensor.rate)
        trace = TraceBuilder(configuration.trace, rate: sensor.rate)
        messenger = prepared.messenger
        ring = prepared.ring
        openEEW = OpenEEWSender(configuration, rate: sensor.rate)
        vibration = VibrationSender(configuration, prepared.meter)
        events = EventRecorder(
            configuration, rate: sensor.rate, revision: revision, waveform: prepared.waveform)
        planes = Planes()
    }

    /// Takes one block and hands every message that it completes to the sink, in the order of sample time.
    /// - Parameters:
    ///   - quality: of the block's time.
    ///   - fault: why the block's numbers say nothing. No event begins from them, and the first block without it begins
    ///     as after a gap.
    public mutating func process(
        _ block: SampleBlock, quality: TimeQuality, fault: InvalidReason? = nil, to sink: PublicationSink
    ) {
        guard block.count > 0 else { return }
        self.quality = quality
        let isOver = self.fault != nil && fault == nil
        self.fault = fault
        let time = SampleClock.bounded(block.time)
        if block.gapBefore || clock == nil || isOver {
            begin(time: time, lost: block.lostBefore + badRun, to: sink)
        } else {
            clock?.advance(to: loaded + badRun, blockTime: time)
        }
        var i = 0
        while i < block.count {
            guard isUsable(block[0, i], block[1, i], block[2, i]) else {
                badRun += 1
                status.invalidSamples += 1
                i += 1
                continue
            }
            if badRun > 0, let clock { begin(time: clock.time(loaded + badRun), lost: badRun, to: sink) }
            let taken = load(block, from: i)
            i += taken
            let found = path.mounting.level != level
            run(taken, to: sink)
            if found { takeLevel(to: sink) }
        }
    }

    /// The level has been found with the last sample: what follows is turned, and begins anew, without a gap.
    private mutating func takeLevel(to sink: PublicationSink) {
        level = path.mounting.level
        guard let clock else { return }
        endStretch(to: sink)
        stretchStart += Int64(loaded)
        beginStretch(time: clock.time(loaded))
    }

    /// Closes an open event and sends what is still held back; for the end of a recording or an orderly stop.
    public mutating func finish(to sink: PublicationSink) {
        endStretch(to: sink)
        vibration?.finish(&messenger, quality: quality, to: sink)
        events.close(messenger: &messenger, quality: quality, to: sink)
    }

    // What only looks at a part of a type without copies is `mutating`, too: otherwise the compiler goes through all that is
    // stored for each look, which takes it minutes.

    /// The signals whose ratios detectors compare with their thresholds, in the order of the list of detectors.
    public var ratioColumns: [RatioColumn] {
        mutating get {
            configuration.detection.enabled.filter(\.isRatio).flatMap { one -> [RatioColumn] in
                let signals = one.signal == .each ? ["x", "y", "z"] : [one.signal?.rawValue ?? ""]
                return signals.enumerated().map {
                    RatioColumn(name: "\($1)_\(one.name)", plane: 3 * one.number + $0)
                }
            }
        }
    }

    /// Hands out what the waveform ring's last segment has so far.
    public mutating func flushRing() { if let onSegment { ring.flush(to: onSegment) } }

    /// Begins the extremes of the summary anew with the next sample.
    public mutating func resetExtremes() { summary.resetExtremes() }

    /// True from an alarm on to the end of its event.
    public var isAlarm: Bool { mutating get { events.isAlarm } }

    /// True while numbers are not yet to be trusted.
    public var isSettling: Bool { mutating get { processed < validFrom } }

    // MARK: Stretches without a gap

    private mutating func begin(time: Int64, lost: Int, to sink: PublicationSink) {
        if let clock {
            endStretch(to: sink)
            let missing = Int64((Double(time - clock.time(loaded)) * rate / 1e9).rounded())
            stretchStart += Int64(loaded) + max(1, missing)
            status.gaps += 1
            status.lostSamples += max(lost, 0)
            afterGap = true
            events.gap(messenger, sink)
        }
        badRun = 0
        beginStretch(time: time)
    }

    /// Everything begins anew with the next sample, which is of that time.
    mutating func beginStretch(time: Int64) {
        if clock != nil {
            trace.reset(gap: true)
            stream?.reset(gap: true)
        }
        clock = SampleClock(time: time, rate: trueRate ?? rate)
        loaded = 0
        processed = 0
        validFrom = rules.settleSamples
        axisValidFrom = PerAxis(0)
        holdBack.reset()
        openEEW?.reset()
        vibration?.reset()
        path.reset()
        events.beginStretch()
        summary.reset()
    }

    mutating func endStretch(to sink: PublicationSink) {
        defer { if let onSegment { ring.flush(to: onSegment) } }
        if holdBack.isOpen, holdBack.count > 0 { releaseHeld(to: sink) }
        if summary.isPending { sendSummary(to: sink) }
        guard let clock else { return }
        if rules.traceEnabled { sendTrace(clock, to: sink) }
        drainStream(clock, to: sink)
    }

    /// Sends what the traces still hold.
    mutating func sendTrace(_ clock: SampleClock, to sink: PublicationSink) {
        let quality = self.quality
        var messenger = self.messenger
        trace.drain { $0.send(&messenger, clock: clock, quality: quality, to: sink) }
        trace.send(&messenger, clock: clock, quality: quality, to: sink)
        self.messenger = messenger
    }

    mutating func sendSummary(to sink: PublicationSink) {
        if summary.isPending { summary.finish() }
        events.take(jma: summary.jma)
        summary.take(eventClass: events.openClass, alarm: events.isAlarm)
        messenger.send(summary.message, time: summary.time, quality: quality, to: sink)
    }

    // MARK: Loading

    /// Copies samples of a block into the raw plane until the chunk is full, the block ends or a sample is not a number.
    private mutating func load(_ block: SampleBlock, from start: Int) -> Int {
        let count = min(Planes.capacity, block.count - start)
        let taken = path.enter(block, from: start, count: count, at: loaded, planes)
        loaded += taken
        return taken
    }

    private mutating func run(_ count: Int, to sink: PublicationSink) {
        guard count > 0 else { return }
        guard holdBack.isOpen else { return chunk(count, to: sink) }
        let raw = planes.raw
        for i in 0..<count {
            if holdBack.push(raw[i], raw[Planes.capacity + i], raw[2 * Planes.capacity + i]) {
                // What came after the held samples waits at the front of the chunk for its turn.
                let rest = count - i - 1
                var tail: [Double] = []
                for axis in 0..<3 {
                    for k in 0..<rest { tail.append(raw[axis * Planes.capacity + i + 1 + k]) }
                }
                releaseHeld(to: sink)
                for axis in 0..<3 {
                    for k in 0..<rest { raw[axis * Planes.capacity + k] = tail[axis * rest + k] }
                }
                if rest > 0 { chunk(rest, to: sink) }
                return
            }
        }
    }

    private mutating func releaseHeld(to sink: PublicationSink) {
        let mean = holdBack.close()
        path.setMean(mean.x, mean.y, mean.z)
        var done = 0
        while done < holdBack.count {
            let n = min(Planes.capacity, holdBack.count - done)
            for i in 0..<n {
                for axis in 0..<3 { planes.raw[axis * Planes.capacity + i] = holdBack.samples[3 * (done + i) + axis] }
            }
            chunk(n, to: sink)
            done += n
        }
    }

    // MARK: One chunk through all stages

    private mutating func chunk(_ count: Int, to sink: PublicationSink) {
        guard let clock else { return }
        path.process(planes, count: count)
        // A fault lasts for the whole block.
        let axes = axisValidFrom
        path.detect(
            planes.detectorChunk(
                count: count, validFrom: fault == nil ? validFrom - processed : count,
                axisValidFrom: .init(x: axes.x - processed, y: axes.y - processed, z: axes.z - processed)), planes)
        onSeries?(
            SeriesChunk(
                count: count, stride: Planes.capacity, clock: clock, firstIndex: processed, raw: planes.raw,
                offsetRemoved: planes.offsetRemoved, filtered: planes.filtered, rms: planes.rms,
                triggered: planes.triggered, ratios: planes.detectors.values))
        if rules.traceEnabled { trace.take(planes, count: count) }
        stream?.take(planes, count: count)
        events.prepare(planes, count: count)
        clock.times(from: processed, count: count, to: planes.times)
        vibration?.take(planes, count: count)
        var i = 0
        while i < count {
            let n = quiet(from: i, to: count)
            if n > 0 { skip(i, n, to: sink) } else { sample(i, clock, to: sink) }
            i += max(n, 1)
        }
    }

    /// How many samples of the chunk, from `i` on, lead to no message: no detector is on, no event is open, no second
    /// ends and no block of traces is full.
    private mutating func quiet(from i: Int, to count: Int) -> Int {
        guard events.isQuiet else { return 0 }
        var n = min(count - i, summary.left(from: processed))
        if summary.isPending { n = min(n, summary.pause) }
        if rules.traceEnabled { n = min(n, trace.left) }
        if let left = stream?.left { n = min(n, left) }
        if let vibration { n = min(n, vibration.left(from: i)) }
        let on = planes.detectors.on + i
        var k = 0
        while k < n, on[k] == 0 { k += 1 }
        return k
    }

    /// Takes such samples all at once.
    private mutating func skip(_ i: Int, _ n: Int, to sink: PublicationSink) {
        events.skip(planes, i, count: n, index: stretchStart + Int64(processed))
        summary.push(planes, i, count: n)
        summary.skip(n)
        if let onSegment { keep(i, n, onSegment) }
        if rules.traceEnabled { trace.advance(n) }
        stream?.advance(n)
        openEEW?.take(planes, from: i, count: n, to: sink)
        if fullScale < .infinity { for k in i..<i + n where isClipped(k) { status.clippedSamples += 1 } }
        processed += n
        status.samples += n
        status.time = planes.times[i + n - 1]
    }

    /// Adds samples of the chunk to the ring.
    private mutating func keep(_ i: Int, _ count: Int, _ sink: SegmentSink) {
        let (raw, capacity) = (planes.raw, Planes.capacity)
        for k in i..<i + count {
            ring.append(
                raw[k], raw[capacity + k], raw[2 * capacity + k], time: planes.times[k], inEvent: events.isActive,
                to: sink)
        }
    }

    @inline(__always)
    private mutating func isClipped(_ i: Int) -> Bool {
        let (raw, capacity) = (planes.raw + i, Planes.capacity)
        return path.mounting.isClipped(raw[0], raw[capacity], raw[2 * capacity], fullScale)
    }

    private mutating func sample(_ i: Int, _ clock: SampleClock, to sink: PublicationSink) {
        let (a, b) = (Planes.capacity + i, 2 * Planes.capacity + i)
        let (r, time) = (planes.rms, planes.times[i])
        let recorded = RecordedSample(
            index: stretchStart + Int64(processed), time: time, motion: planes.motion(i), rms: (r[i], r[a], r[b]),
            clipped: isClipped(i))
        if recorded.clipped { status.clippedSamples += 1 }
        var state = DetectionState(on: planes.detectors.on[i])
        if processed < validFrom { state.invalid = afterGap ? .gap : .settling }
        if let fault { state.invalid = fault }
        if state.on != 0 { path.detectors.read(planes.detectors, at: i, into: planes.readings) }
        if events.isClosing {
            // One after the other: the two need about the same memory.
            events.waits = summary.isPending
            summary.giveBackRoom()
        }
        events.step(recorded, planes, i, state: state, messenger: &messenger, quality: quality, to: sink)
        if let onSegment { keep(i, 1, onSegment) }
        summary.push(planes, i, count: 1)
        if summary.left(from: processed) <= 0 {
            if summary.isPending { sendSummary(to: sink) }
            summary.endSecond(state: state, time: time)
            status.mean = summary.mean
        }
        if summary.isPending, summary.step() { sendSummary(to: sink) }
        if rules.traceEnabled, trace.push(inEvent: events.isActive) {
            trace.send(&messenger, clock: clock, quality: quality, to: sink)
        }
        if stream?.push(inEvent: events.isActive) == true { sendStream(clock, to: sink) }
        openEEW?.take(planes, from: i, count: 1, to: sink)
        vibration?.send(at: i, &messenger, quality: quality, to: sink)
        processed += 1
        status.samples += 1
        status.time = time
    }
}
