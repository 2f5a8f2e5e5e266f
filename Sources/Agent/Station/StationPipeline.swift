import Messages
import MiniSEED
import Seismology
import Settings
import SignalProcessing
import Vibration

/// The whole path of one station's samples: blocks in, messages out. Pure: no clock, no file, no socket; it is driven
/// by the time of the samples alone, so that replay and live run the very same code, and it gives the same bytes for
/// any size of block.
///
/// Sensor → mounting → raw → offset removal → filter → RMS → detection → event; beside it offset removal → ground
/// motion and intensity; and any signal → decimation → trace. A gap, or a sample that is not a number, resets state and
/// never settings.
public struct StationPipeline: ~Copyable {
    /// Counts since the start.
    public private(set) var status = StationStatus()
    /// Called with every chunk of signals, before the messages that it gives rise to.
    public var onSeries: ((SeriesChunk) -> Void)?
    /// Called with every completed segment of the waveform ring; nil: nobody keeps one.
    public var onSegment: SegmentSink?
    /// Called with every piece of motion for the analysis of modes, while the settings want it.
    public var onMotion: MotionSink?

    /// In force.
    private var configuration: Configuration
    private var sensor: StationSensor
    private var rate: Double
    /// The sensor's true rate, where it is measured.
    private var trueRate: Double?
    private var fullScale: Double
    private var rules: StationRules

    private let planes: Planes
    private var holdBack: HoldBack
    /// The last samples, from which short gaps are bridged.
    private var bridge: GapBridge
    /// The level of the last minute; that of an earlier run, until the first second has been compared with it; and whether
    /// what is held back is that second.
    private var restMean = RestMean()
    private var earlierLevel: RestLevel?
    private var comparesLevel = false
    /// Samples of the gap that is bridged as soon as enough is held back behind it; nil: what is held back is for the mean.
    private var gapLength: Int?
    private var path: SignalPath
    private var summary: SummaryBuilder
    private var trace: TraceBuilder
    /// Other traces for a while, and how many of their blocks have been sent.
    private var stream: TraceBuilder?
    private var streamSettings: TraceConfiguration?
    public private(set) var streamBlocks = 0
    public private(set) var isStreaming = false
    /// Acceleration for OpenEEW; nil: it is not wanted.
    private var openEEW: OpenEEWSender?
    /// Vibration as standards measure it; nil: it is not wanted.
    private var vibration: VibrationSender?
    /// Results of earlier intervals, while nothing measures.
    private var vibrationPast: VibrationPast?
    /// Motion at a low rate for the analysis of modes; nil: it is not wanted.
    private var motion: MotionCollector?
    private var events: EventRecorder
    private var ring: RingWriter
    private var messenger: Messenger
    private var quality = TimeQuality.replay

    /// The present unbroken stretch: its clock, samples in it that have been loaded and processed.
    private var clock: SampleClock?
    private var loaded = 0
    private var processed = 0
    /// Number of the stretch's first sample since the start; rises by what is missing over a gap.
    private var stretchStart: Int64 = 0
    private var afterGap = false
    /// Samples since the last good one that were not usable.
    private var badRun = 0
    /// Fault of the samples that their source has reported.
    private var fault: InvalidReason?
    /// The last cause of an uncertain velocity and displacement.
    private var uncertain = InvalidReason.settling
    /// How far from level the sensor was found; nil while that is not known, or not asked for.
    public private(set) var level: Level?
    /// Intervals of vibration that were sent; another number: ``vibrationStanding`` may be another.
    public var vibrationIntervals: Int { mutating get { vibration?.count ?? 0 } }
    /// How the last interval of vibration stands to its limit; nil: there is none, or no limit.
    public var vibrationStanding: VibrationMessage.Standing? { mutating get { vibration?.last } }
    /// First sample of the stretch whose numbers are to be trusted, and the first that counts for the level of each
    /// axis, which a change of its filter puts off.
    private var validFrom: Int
    private var axisValidFrom = PerAxis(0)

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
        bridge = GapBridge(rate: sensor.rate)
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
        motion = MotionCollector(configuration, rate: sensor.rate)
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
            begin(time: time, lost: block.lostBefore + badRun, isKnown: !isOver, to: sink)
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
            if badRun > 0, let clock { begin(time: clock.time(loaded + badRun), lost: badRun, isKnown: true, to: sink) }
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
        bridge.reset()
        restMean.reset()
        beginStretch(time: clock.time(loaded), .change)
    }

    /// Goes on with the doses and the floor of an earlier run.
    public mutating func goOn(from past: VibrationPast) {
        if let vibration { vibration.goOn(from: past) } else { vibrationPast = past }
    }

    /// Begins with the level of an earlier run of the same sensor, where the first second is in motion about it.
    public mutating func goOn(from level: RestLevel) { if clock == nil { earlierLevel = level } }

    /// Mean acceleration of the last minute along the station's axes, m/s²; nil while that is not known.
    public var restLevel: (x: Double, y: Double, z: Double)? { mutating get { restMean.value } }

    private mutating func renewVibration(_ next: VibrationSender?) {
        if let old = vibration {
            if let next { next.takeOver(old) } else { vibrationPast = old.past }
        } else if let past = vibrationPast, let next {
            next.goOn(from: past)
            vibrationPast = nil
        }
        vibration = next
    }

    /// Closes an open event and sends what is still held back; for the end of a recording or an orderly stop.
    public mutating func finish(to sink: PublicationSink) { finish(.stop, to: sink) }

    private mutating func finish(_ reason: VibrationInterval.Interruptions, to sink: PublicationSink) {
        endStretch(to: sink)
        vibration?.finish(&messenger, quality: quality, reason, to: sink)
        events.close(messenger: &messenger, quality: quality, to: sink)
    }

    // Members that only look at a part of a large type without copies are `mutating`, too, and such types are handed over
    // `inout`: otherwise the compiler goes through all that is stored for each look. With some ten such looks this room
    // compiled 3.5 times as long.

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

    /// No samples come: an event that would have ended without motion meanwhile ends now, not when they come back.
    /// - Parameter seconds: since the last sample.
    public mutating func noteSilence(seconds: Double, to sink: PublicationSink) {
        guard clock != nil, seconds > GapBridge.longest, !events.isQuiet else { return }
        releaseHeld(to: sink)
        if summary.isPending { sendSummary(to: sink) }
        events.noteSilence(
            until: stretchStart + Int64(loaded) + Int64(seconds * rate), messenger: &messenger, quality: quality,
            to: sink)
    }

    /// Hands out what the waveform ring's last segment has so far.
    public mutating func flushRing() { if let onSegment { ring.flush(to: onSegment) } }

    /// Begins the extremes of the summary anew with the next sample.
    public mutating func resetExtremes() { summary.resetExtremes() }

    /// True from an alarm on to the end of its event.
    public var isAlarm: Bool { mutating get { events.isAlarm } }

    /// Seconds of a gap over which the averages of detectors go on.
    private static let longestKnownNoise = 60.0

    /// True while numbers are not yet to be trusted.
    public var isSettling: Bool { mutating get { processed < validFrom } }

    // MARK: Stretches without a gap

    /// - Parameter isKnown: whether the samples before say something of those that follow.
    private mutating func begin(time: Int64, lost: Int, isKnown: Bool, to sink: PublicationSink) {
        badRun = 0
        guard let clock else {
            beginStretch(time: time, .gap)
            guard earlierLevel != nil, path.holdBack == 0 else { return }
            (holdBack, comparesLevel) = (HoldBack(length: max(16, Int(rate.rounded()))), true)
            return
        }
        let missing = Int64((Double(time - clock.time(loaded)) * rate / 1e9).rounded())
        releaseHeld(to: sink)
        if isKnown, missing <= Int64(rate * GapBridge.longest), bridge.canBridge(Int(missing)) {
            return beginBridge(time: time, missing: Int(missing), lost: lost, clock, to: sink)
        }
        endStretch(to: sink)
        countGap(missing: missing, lost: lost, to: sink)
        afterGap = true
        let level = isKnown ? bridge.level : nil
        if isKnown {
            bridge.interrupt()
        } else {
            bridge.reset()
            restMean.reset()
        }
        beginStretch(time: time, .gap, missing: isKnown ? Double(max(1, missing)) / rate : nil, level: level)
        events.endInGap(before: stretchStart, messenger: &messenger, quality: quality, to: sink)
    }

    private mutating func countGap(missing: Int64, lost: Int, to sink: PublicationSink) {
        stretchStart += Int64(loaded) + max(1, missing)
        status.gaps += 1
        uncertain = .gap
        status.lostSamples += max(lost, 0)
        events.gap(messenger, sink)
    }

    /// A short gap: traces and waveform begin anew behind it; everything else goes on over samples that are estimated as soon
    /// as enough is known behind it.
    private mutating func beginBridge(
        time: Int64, missing: Int, lost: Int, _ clock: SampleClock, to sink: PublicationSink
    ) {
        if summary.isPending { sendSummary(to: sink) }
        endTraces(to: sink)
        let taken = loaded
        countGap(missing: Int64(missing), lost: lost, to: sink)
        trace.reset(gap: true)
        stream?.reset(gap: true)
        openEEW?.reset()
        motion?.reset()
        vibration?.interrupt(.gap)
        self.clock = SampleClock(time: time, rate: trueRate ?? rate)
        (loaded, processed) = (0, 0)
        validFrom = max(0, validFrom - taken - missing)
        for axis in 0..<3 { axisValidFrom[axis] = max(0, axisValidFrom[axis] - taken - missing) }
        summary.goOn(after: taken, missing: missing)
        holdBack = HoldBack(length: bridge.wanted)
        gapLength = missing
    }

    /// Gives the filters what is estimated of a gap; nothing of it is published.
    private mutating func fillGap(_ missing: Int) {
        bridge.fill(missing: missing, after: holdBack.samples, count: holdBack.count)
        let (seconds, error) = (Double(missing) / rate, bridge.velocityError)
        let recent = summary.recent
        var done = 0
        while done < missing {
            let n = min(Planes.capacity, missing - done)
            for axis in 0..<3 {
                for i in 0..<n { planes.raw[axis * Planes.capacity + i] = bridge.samples[axis * missing + done + i] }
            }
            let likely = TransientBound.likelyShare * error
            giveToFilters(n, first: done - missing, velocity: likely, displacement: likely * seconds)
            bridge.push(planes.raw, stride: Planes.capacity, count: n)
            done += n
        }
        path.bridged(
            velocity: error, seconds: seconds, recent: (velocity: recent.velocity, displacement: recent.displacement))
    }

    /// Lets all stages with a memory take estimated samples from the raw plane.
    /// - Parameters:
    ///   - first: number of the first in the stretch, below 0.
    ///   - velocity: how far the velocity may be off, m/s; the displacement likewise, m.
    private mutating func giveToFilters(_ count: Int, first: Int, velocity: Double, displacement: Double) {
        path.process(planes, count: count)
        let axes = axisValidFrom
        path.detect(
            planes.detectorChunk(
                count: count, validFrom: fault == nil ? validFrom - first : count,
                axisValidFrom: .init(x: axes.x - first, y: axes.y - first, z: axes.z - first)), planes)
        let peaks = planes.uncertainPeaks(count: count, velocity: velocity, displacement: displacement)
        events.bridge(planes, count: count, peaks)
        summary.bridge(planes, count: count, peaks)
        vibration?.bridge(planes, count: count)
    }

    /// Begins all stages anew with the next sample, which is of that time.
    /// - Parameters:
    ///   - reason: why the samples before it do not go on.
    ///   - missing: seconds since then; nil: what was before says nothing of what follows.
    ///   - level: of the samples, where it is known: the filters begin as if it had been their input for ever.
    ///   - groundGoesOn: whether velocity and displacement go on.
    private mutating func beginStretch(
        time: Int64, _ reason: VibrationInterval.Interruptions, missing: Double? = nil,
        level: (x: Double, y: Double, z: Double, seconds: Double)? = nil, groundGoesOn: Bool = false
    ) {
        let recent = summary.recent
        (gapLength, comparesLevel) = (nil, false)
        if clock != nil {
            trace.reset(gap: true)
            stream?.reset(gap: true)
        }
        clock = SampleClock(time: time, rate: trueRate ?? rate)
        loaded = 0
        processed = 0
        validFrom = rules.settleSamples
        axisValidFrom = PerAxis(0)
        holdBack = HoldBack(length: level == nil ? path.holdBack : 0)
        openEEW?.reset()
        vibration?.reset(reason)
        motion?.reset()
        let noiseGoesOn = level != nil && (missing ?? .infinity) <= Self.longestKnownNoise
        path.reset(groundGoesOn: groundGoesOn, noiseGoesOn: noiseGoesOn)
        events.beginStretch(missing: missing, blind: max(validFrom, path.blindSamples))
        summary.reset()
        guard let level else { return }
        let uncertainty = 2 * recent.vector / level.seconds
        begin(
            at: (level.x, level.y, level.z), uncertainty: uncertainty,
            beside: (recent.velocity, recent.displacement), groundGoesOn: groundGoesOn)
    }

    /// The filters take a level as if it had been their input for ever.
    /// - Parameters:
    ///   - uncertainty: how far it may be from the true one, m/s²; nil: it is judged by the samples.
    ///   - beside: largest velocity (m/s) and displacement (m) of a horizontal in the last seconds.
    private mutating func begin(
        at level: (x: Double, y: Double, z: Double), uncertainty: Double?,
        beside: (velocity: Double, displacement: Double) = (0, 0), groundGoesOn: Bool = false
    ) {
        let (raw, capacity) = (planes.raw, Planes.capacity)
        (raw[0], raw[capacity], raw[2 * capacity]) = (level.x, level.y, level.z)
        if groundGoesOn {
            path.condition(planes, count: 1)
            path.offsetBegan(beside: beside)
        } else {
            path.begin(level: level, uncertainty: uncertainty, beside: beside)
            path.process(planes, count: 1)
        }
        path.detect(planes.detectorChunk(count: 1, validFrom: 1, axisValidFrom: .init(1)), planes)
        vibration?.bridge(planes, count: 1)
    }

    /// Begins at the level of an earlier run, where that is nearer to the mean of the first second than the first sample is,
    /// and no further from it than the second's own motion explains.
    private mutating func beginAtEarlierLevel(mean: (x: Double, y: Double, z: Double)) {
        comparesLevel = false
        guard let level = earlierLevel else { return }
        earlierLevel = nil
        let (samples, middle) = (holdBack.samples, SIMD3(mean.x, mean.y, mean.z))
        var squares = 0.0
        for i in 0..<holdBack.count {
            let from = SIMD3(samples[3 * i], samples[3 * i + 1], samples[3 * i + 2]) - middle
            squares += (from * from).sum()
        }
        func squareFromMean(_ x: Double, _ y: Double, _ z: Double) -> Double {
            let from = SIMD3(x, y, z) - middle
            return (from * from).sum()
        }
        let off = squareFromMean(level.x, level.y, level.z)
        guard off <= squares / Double(holdBack.count), off < squareFromMean(samples[0], samples[1], samples[2]) else {
            return
        }
        begin(at: (level.x, level.y, level.z), uncertainty: nil)
    }

    private mutating func endStretch(to sink: PublicationSink) {
        defer { if let onSegment { ring.flush(to: onSegment) } }
        releaseHeld(to: sink)
        if summary.isPending { sendSummary(to: sink) }
        endTraces(to: sink)
    }

    /// Sends what the traces and the stream still hold.
    private mutating func endTraces(to sink: PublicationSink) {
        guard let clock else { return }
        if rules.traceEnabled { sendTrace(clock, to: sink) }
        drainStream(clock, to: sink)
    }

    /// Sends what the traces still hold.
    private mutating func sendTrace(_ clock: SampleClock, to sink: PublicationSink) {
        let quality = self.quality
        var messenger = self.messenger
        trace.drain { $0.send(&messenger, clock: clock, quality: quality, to: sink) }
        trace.send(&messenger, clock: clock, quality: quality, to: sink)
        self.messenger = messenger
    }

    private mutating func sendSummary(to sink: PublicationSink) {
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

    /// Processes what is held back, if there is something.
    private mutating func releaseHeld(to sink: PublicationSink) {
        guard holdBack.isOpen, holdBack.count > 0 else { return }
        let mean = holdBack.close()
        if let gapLength {
            self.gapLength = nil
            fillGap(gapLength)
        } else if comparesLevel {
            beginAtEarlierLevel(mean: mean)
        } else {
            path.setMean(mean.x, mean.y, mean.z)
        }
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
        path.process(planes, count: count, fullScale: fullScale)
        bridge.push(planes.raw, stride: Planes.capacity, count: count)
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
        motion?.take(planes, count: count, to: onMotion)
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
        if fullScale < .infinity || planes.hasLoneSpikes.pointee { for k in i..<i + n { _ = look(k) } }
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

    /// Notes what makes velocities uncertain at a sample.
    /// - Returns: whether it is at the sensor's end.
    @inline(__always)
    private mutating func look(_ i: Int) -> Bool {
        let (raw, capacity) = (planes.raw + i, Planes.capacity)
        if planes.hasLoneSpikes.pointee, planes.loneSpikes[i] >= path.leastSpike { uncertain = .spike }
        guard path.mounting.isClipped(raw[0], raw[capacity], raw[2 * capacity], fullScale) else { return false }
        status.clippedSamples += 1
        uncertain = .clipped
        return true
    }

    private mutating func sample(_ i: Int, _ clock: SampleClock, to sink: PublicationSink) {
        let (a, b) = (Planes.capacity + i, 2 * Planes.capacity + i)
        let (r, time) = (planes.rms, planes.times[i])
        let recorded = RecordedSample(
            index: stretchStart + Int64(processed), time: time, motion: planes.motion(i), rms: (r[i], r[a], r[b]),
            clipped: look(i))
        var state = DetectionState(on: planes.detectors.on[i])
        state.uncertain = uncertain
        if processed < validFrom { state.invalid = afterGap ? .gap : .settling }
        if let fault { state.invalid = fault }
        if state.on != 0 { path.readDetectors(planes, at: i) }
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
            if let mean = status.mean { restMean.take(mean.x, mean.y, mean.z) }
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

/// Other settings, and another rate of the sensor.
extension StationPipeline {
    /// The stages for other settings and one sensor: everything that can fail has been made, and nothing has changed yet.
    /// (An object, so that nothing is made to copy all of it.)
    public final class Prepared: Sendable {
        let configuration: Configuration
        let sensor: StationSensor
        let stream: TraceConfiguration?
        let path: SignalPath
        let messenger: Messenger
        let waveform: WaveformSender
        let ring: RingWriter
        let meter: VibrationMeter?

        /// - Throws: what cannot be made at the sensor's rate.
        public init(
            _ configuration: Configuration, sensor: StationSensor, boot: String, stream: TraceConfiguration? = nil
        ) throws(StationError) {
            self.configuration = configuration
            self.sensor = sensor
            self.stream = stream
            path = try SignalPath(configuration, rate: sensor.rate, resolution: sensor.resolution ?? 0)
            let topics = try StationError.topics(of: configuration)
            var messenger = try Messenger(configuration, topics: topics, boot: boot)
            try messenger.setStream(stream, configuration)
            self.messenger = messenger
            waveform = try WaveformSender(configuration, sensor: sensor, topics: topics)
            ring = try RingWriter(configuration, sensor: sensor)
            meter = try VibrationSender.meter(configuration, rate: sensor.rate)
        }
    }

    /// Makes what ``commit(_:revision:to:)`` puts into force.
    /// - Parameters:
    ///   - configuration: a valid snapshot. What belongs to the sensor's own rate and range stays as it is.
    ///   - sensor: another one than now; nil: the one that is there.
    /// - Throws: what cannot be made at the sensor's rate.
    public mutating func prepare(
        _ configuration: Configuration, sensor: StationSensor? = nil
    ) throws(StationError) -> Prepared {
        try Prepared(configuration, sensor: sensor ?? self.sensor, boot: messenger.boot, stream: streamSettings)
    }

    /// Whether this was made for the sensor and the streamed traces that are there now.
    public mutating func fits(_ prepared: Prepared) -> Bool {
        prepared.sensor == sensor && prepared.stream == streamSettings
    }

    /// Prepares other settings and puts them into force at once.
    /// - Throws: what cannot be made at the sensor's rate; then nothing has changed.
    public mutating func reconfigure(
        _ configuration: Configuration, revision: Int, to sink: PublicationSink
    ) throws(StationError) {
        let prepared = try prepare(configuration)
        commit(prepared, revision: revision, to: sink)
    }

    /// Puts other settings, that were prepared for this sensor (see ``fits(_:)``), into force with the next block, without a
    /// gap. Cannot fail.
    ///
    /// A stage whose settings and whose input are as before goes on from where it is, bit for bit as if nothing had
    /// happened: the filters of other axes, running averages, windows, an open event, the extremes, the numbers of
    /// messages. What has changed begins anew. A new filter of an axis keeps its level from triggering until it and
    /// the RMS have settled; a new offset removal, axis map or test signal is a new start for all (`valid` is false, `settling`,
    /// until all has settled), and traces tell a jump of their grid by `gap`. An open event goes on in any case.
    /// - Parameter revision: of the settings; events that begin from now on carry it.
    public mutating func commit(_ prepared: Prepared, revision: Int, to sink: PublicationSink) {
        let configuration = prepared.configuration
        var (path, messenger) = (prepared.path, prepared.messenger)
        let (waveform, ring) = (prepared.waveform, prepared.ring)
        let was = self.configuration
        let goesOn = SignalPath.entersAlike(configuration, was)
        let sameMeasures = configuration.intensity == was.intensity && configuration.spectrum == was.spectrum
        if summary.isPending, !goesOn || !sameMeasures { sendSummary(to: sink) }
        if goesOn {
            if configuration.trace != was.trace, rules.traceEnabled, let clock { sendTrace(clock, to: sink) }
        } else {
            endStretch(to: sink)
        }

        if configuration.station != was.station || configuration.waveform.encoding != was.waveform.encoding
            || configuration.sensor.mounting != was.sensor.mounting
        {
            if let onSegment { self.ring.flush(to: onSegment) }
            self.ring = ring
        }
        messenger.takeOver(self.messenger)
        self.messenger = messenger
        var events = EventRecorder(configuration, rate: rate, revision: revision, waveform: waveform)
        events.takeOver(&self.events)
        self.events = events
        var summary = SummaryBuilder(configuration, rate: rate)
        summary.takeOver(&self.summary, configuration, was)
        self.summary = summary
        rules = StationRules(configuration, path, rate: rate)
        if configuration.trace != was.trace {
            trace = TraceBuilder(configuration.trace, rate: rate)
            if processed > 0 { trace.begin(at: processed) }
        }
        if configuration.vibration.measuring != was.vibration.measuring {
            vibration?.finish(
                &messenger, quality: quality, configuration.vibration.enabled ? .change : .stop, to: sink)
            renewVibration(VibrationSender(configuration, prepared.meter))
        }
        let (modes, before) = (configuration.vibration, was.vibration)
        if modes.modes != before.modes || modes.modesTop != before.modesTop {
            motion = MotionCollector(configuration, rate: rate)
        }
        if configuration.mqtt.openEEW != was.mqtt.openEEW { openEEW = OpenEEWSender(configuration, rate: rate) }
        self.configuration = configuration

        if goesOn {
            let blindBefore = self.path.blindSamples
            let kept = path.takeOver(self.path, configuration, was)
            for axis in 0..<3 where !kept[axis] {
                // The window of the RMS, too, must have left what came before.
                let window = configuration.axes[axis].detection.window.samples(at: rate)
                axisValidFrom[axis] = processed + window + Int((path.axisSettlingTime[axis] * rate).rounded(.up))
            }
            if isSettling { validFrom = rules.settleSamples }
            self.path = path
            let blind = path.blindSamples
            if blind > blindBefore { self.events.detectorsBegan(blind: blind) }
        } else {
            path.takeLevel(self.path)
            // The ground and the sensor's level are those from before, where only the removal of the offset is another.
            let isSame = SignalPath.rawAlike(configuration, was)
            let groundGoesOn = isSame && path.goOnWithGround(of: self.path)
            self.path = path
            level = path.mounting.level
            let rest = isSame ? bridge.level : nil
            if !isSame {
                bridge.reset()
                restMean.reset()
            }
            afterGap = false
            if let clock {
                stretchStart += Int64(loaded)
                beginStretch(
                    time: clock.time(loaded), .change, missing: isSame ? 0 : nil, level: rest,
                    groundGoesOn: groundGoesOn && rest != nil)
            }
        }
    }

    /// Goes on with a sensor of another rate: one whose true rate has been measured, or that came back as another, and
    /// with other settings if there are any.
    ///
    /// Numbers of messages, counters and extremes go on. Whatever counts in samples (filters, windows, traces, the time
    /// before an event) is made for the new rate and begins anew, without a gap: `valid` is false, `settling`, until all
    /// has settled, and traces tell the jump of their grid by `gap`. An open event is closed, with its waveform, since
    /// its record has one rate.
    /// - Throws: what cannot be made at that rate; then nothing has changed.
    public mutating func change(
        sensor: StationSensor, _ settings: (configuration: Configuration, revision: Int)? = nil,
        to sink: PublicationSink
    ) throws(StationError) {
        let (configuration, revision) = settings ?? (self.configuration, events.revision)
        let prepared = try prepare(configuration, sensor: sensor)
        var (path, messenger) = (prepared.path, prepared.messenger)
        finish(.change, to: sink)
        messenger.takeOver(self.messenger)
        self.messenger = messenger
        let was = self.configuration
        self.configuration = configuration
        ring = prepared.ring
        let extremes = summary.extremes
        // The same sensor lies as it did, another one may not.
        let isSame =
            sensor.range == self.sensor.range && sensor.resolution == self.sensor.resolution
            && SignalPath.rawAlike(configuration, was)
        if sensor.range == self.sensor.range, sensor.resolution == self.sensor.resolution { path.takeLevel(self.path) }
        let rest = isSame ? bridge.level : nil
        bridge = GapBridge(rate: sensor.rate)
        if !isSame { restMean.reset() }
        level = path.mounting.level
        (self.sensor, rate, fullScale) = (sensor, sensor.rate, Self.fullScale(sensor))
        trueRate = nil
        self.path = path
        rules = StationRules(configuration, path, rate: rate)
        holdBack = HoldBack(length: path.holdBack)
        summary = SummaryBuilder(configuration, rate: rate)
        summary.extremes = extremes
        trace = TraceBuilder(configuration.trace, rate: rate)
        openEEW = OpenEEWSender(configuration, rate: rate)
        renewVibration(VibrationSender(configuration, prepared.meter))
        motion = MotionCollector(configuration, rate: rate)
        stream = streamSettings.map { TraceBuilder($0, rate: sensor.rate) }
        events = EventRecorder(configuration, rate: rate, revision: revision, waveform: prepared.waveform)
        afterGap = false
        validFrom = rules.settleSamples
        guard let clock else { return }
        stretchStart += Int64(loaded)
        beginStretch(time: clock.time(loaded), .change, level: rest)
    }

    /// Counts the times of samples by the true rate from the next block on. Filters stay as they are: it is for what a
    /// rate within 0.5 % makes of the time of a trace that began a second before the last block.
    public mutating func follow(trueRate: Double) {
        self.trueRate = trueRate
        clock?.follow(rate: trueRate)
    }

    /// From which value on a sample is at the sensor's end.
    private static func fullScale(_ sensor: StationSensor) -> Double { sensor.range.map { $0 * 0.999 } ?? .infinity }
}

/// A second set of traces for a while, beside those of the settings: blocks like theirs on `data/stream`. Then test events,
/// and what a network of stations says of an event.
extension StationPipeline {
    /// Begins with the next sample; the first block says so by a gap when samples have come before. One set at a time:
    /// those that there are end.
    /// - Returns: the topic of the blocks.
    /// - Throws: when its records cannot be made.
    @discardableResult
    public mutating func beginStream(
        _ settings: TraceConfiguration, to sink: PublicationSink
    ) throws(StationError) -> String {
        var messenger = self.messenger
        try messenger.setStream(settings, configuration)
        endStream(to: sink)
        messenger.takeOver(self.messenger)
        self.messenger = messenger
        streamSettings = settings
        var builder = TraceBuilder(settings, rate: rate)
        if processed > 0 { builder.begin(at: processed) }
        stream = builder
        (streamBlocks, isStreaming) = (0, true)
        return messenger.topics.stream
    }

    /// Sends what the traces still hold and ends them.
    public mutating func endStream(to sink: PublicationSink) {
        if let clock { drainStream(clock, to: sink) }
        (stream, streamSettings, isStreaming) = (nil, nil, false)
    }

    /// Sends a block.
    private mutating func sendStream(_ clock: SampleClock, to sink: PublicationSink) {
        if stream?.send(&messenger, as: .stream, clock: clock, quality: quality, to: sink) == true { streamBlocks += 1 }
    }

    private mutating func drainStream(_ clock: SampleClock, to sink: PublicationSink) {
        guard var stream else { return }
        let quality = self.quality
        var (messenger, sent) = (self.messenger, 0)
        stream.drain {
            if $0.send(&messenger, as: .stream, clock: clock, quality: quality, to: sink) { sent += 1 }
        }
        self.messenger = messenger
        self.stream = stream
        streamBlocks += sent
        sendStream(clock, to: sink)
    }

    /// Marks the open event, or the last one, with what a network of stations says of it; nothing where it is another.
    public mutating func confirm(_ confirmation: EventConfirmation, to sink: PublicationSink) {
        events.confirm(confirmation, messenger: &messenger, quality: quality, to: sink)
    }

    /// True from an event's onset to its end.
    public mutating func isEventOpen() -> Bool { events.isActive }

    /// Outcome of the test event that was asked for last.
    public mutating func testEvent() -> TestEvent { events.test }

    /// Asks for a test event from the next sample on; see ``testEvent()`` for what became of it.
    /// - Returns: false while another event is open.
    public mutating func beginTestEvent() -> Bool { events.beginTest() }
}

extension Messenger {
    /// Makes ready for the stream that is on; nil: there is none.
    mutating func setStream(_ settings: TraceConfiguration?, _ configuration: Configuration) throws(StationError) {
        guard let settings else { return }
        setStream(qos: settings.qos, form: try TraceForm(settings, configuration))
    }
}

extension TraceForm {
    /// Values that the settings ask for.
    init(_ settings: TraceConfiguration, _ configuration: Configuration) throws(StationError) {
        switch settings.encoding {
        case .json: self = .json
        case .cbor: self = .cbor
        case .mseed2, .mseed3:
            do throws(MiniSEEDError) {
                let format = settings.encoding == .mseed2 ? MiniSEEDFormat.v2 : .v3
                self = .records(try TraceRecords(codes: ChannelCodes(configuration), format: format))
            } catch { throw StationError(path: "/station", message: error.description) }
        }
    }
}
