import Seismology
import Settings
import SignalProcessing

/// All stages that turn samples into signals: mounting, test signals, offset removal, filter, RMS, level detection, and
/// ground velocity and the detectors beside them.
struct SignalPath: Sendable {
    private(set) var mounting: Mounting
    private let sources: TestSignals
    private var offset: OffsetRemoval
    private var filter: AxisFilter
    private var rmsX: SlidingRMS
    private var rmsY: SlidingRMS
    private var rmsZ: SlidingRMS
    private var levelX: LevelDetector
    private var levelY: LevelDetector
    private var levelZ: LevelDetector
    private var ground: GroundIntegrator
    /// Nil where nobody asks for Taiwan's scale.
    private var cwa: CentralWeatherAdministration.Acceleration?
    /// Start of ground motion: acceleration without its mean where only that is removed, otherwise without its first
    /// sample after a start or a gap.
    private let startsFromMean: Bool
    private let rate: Double
    private var first: (x: Double, y: Double, z: Double)?
    private var hasMean = false
    /// How far velocity and displacement may be off after a start or a gap.
    private var bound: TransientBound
    private var spikes: SpikeFinder
    /// Lower ones make no number uncertain, m/s².
    let leastSpike: Double
    private var detectors: DetectorBank
    /// Seconds that the slowest stage needs after a start or a gap, and that the filter of each axis needs.
    let settlingTime: Double
    let axisSettlingTime: PerAxis<Double>

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - resolution: step of the sensor's numbers, m/s²; 0: not known.
    init(_ configuration: Configuration, rate: Double, resolution: Double = 0) throws(StationError) {
        self.rate = rate
        mounting = Mounting(configuration.sensor, rate: rate)
        sources = TestSignals(configuration.axes, rate: rate)
        offset = try StationError.at("/conditioning/offset") { () throws(FilterDesignError) in
            try OffsetRemoval(configuration.conditioning.offset, rate: rate)
        }
        let axes = configuration.axes
        func design(_ name: String, _ axis: AxisConfiguration) throws(StationError) -> FilterSpecification.Design {
            try StationError.at("/axes/\(name)/filter") { () throws(FilterDesignError) in
                try axis.filter.design(rate: rate)
            }
        }
        let (x, y, z) = (try design("x", axes.x), try design("y", axes.y), try design("z", axes.z))
        filter = AxisFilter(x, y, z)
        ground = try StationError.at("/sensor/rate_hz") { () throws(FilterDesignError) in
            try GroundIntegrator(rate: rate)
        }
        bound = try StationError.at("/sensor/rate_hz") { () throws(FilterDesignError) in
            try TransientBound(rate: rate, offset: configuration.conditioning.offset)
        }
        // (A step of a coarse sensor looks like one.)
        leastSpike = max(TransientBound.leastSpike, 4 * resolution)
        let least = (0..<3).map { axis -> Double in
            let detection = axes[axis].detection
            return SpikeFinder.least(threshold: detection.threshold, window: detection.window.samples(at: rate))
        }
        spikes = SpikeFinder(rate: rate, least: min(leastSpike, least.min() ?? 0))
        startsFromMean = offset.holdBack > 0
        if configuration.intensity.scales.contains(.cwa) { cwa = .init(rate: rate) }
        var times = PerAxis(x.settlingTime(rate: rate))
        times.y = y.settlingTime(rate: rate)
        times.z = z.settlingTime(rate: rate)
        func window(_ axis: AxisConfiguration) -> Int { axis.detection.window.samples(at: rate) }
        detectors = try DetectorBank(
            configuration, rate: rate,
            levels: .init(
                offset: offset, filter: filter, settlingTime: max(times.x, times.y, times.z),
                windows: (window(axes.x), window(axes.y), window(axes.z))))
        func rms(_ axis: AxisConfiguration) -> SlidingRMS {
            SlidingRMS(window: window(axis))
        }
        func level(_ axis: AxisConfiguration) -> LevelDetector {
            LevelDetector(threshold: axis.detection.threshold, hold: axis.detection.hold.samples(at: rate))
        }
        (rmsX, rmsY, rmsZ) = (rms(axes.x), rms(axes.y), rms(axes.z))
        (levelX, levelY, levelZ) = (level(axes.x), level(axes.y), level(axes.z))
        axisSettlingTime = times
        settlingTime = max(offset.settlingTime, times.x, times.y, times.z, detectors.settlingTime)
    }

    /// Samples from now on until all detectors can trigger.
    var blindSamples: Int { detectors.blindSamples }

    /// Samples after a start or a gap whose mean is wanted by ``setMean(_:_:_:)`` before they are processed.
    var holdBack: Int { offset.holdBack }

    mutating func setMean(_ x: Double, _ y: Double, _ z: Double) {
        offset.setMean(x, y, z)
        hasMean = true
        if startsFromMean { bound.begin(first: SIMD3(x, y, z)) }
    }

    /// The filters begin anew, with the next sample, at a level that is known.
    /// - Parameters:
    ///   - uncertainty: how far it may be from the true one, m/s²; nil: it is judged by the samples.
    ///   - beside: largest velocity (m/s) and displacement (m) of a horizontal in the last seconds.
    mutating func begin(
        level: (x: Double, y: Double, z: Double), uncertainty: Double?, beside: (velocity: Double, displacement: Double)
    ) {
        if !hasMean { setMean(level.x, level.y, level.z) }
        first = level
        bound.begin(first: SIMD3(level.x, level.y, level.z), uncertainty: uncertainty)
        offsetBegan(beside: beside)
    }

    /// The removal of the offset has begun anew, in motion.
    mutating func offsetBegan(beside motion: (velocity: Double, displacement: Double)) {
        bound.offsetBegan(velocity: motion.velocity, displacement: motion.displacement)
    }

    /// The samples of a gap have been given to the filters, and the next one is the first behind it.
    mutating func bridged(
        velocity: Double, seconds: Double, recent: (velocity: Double, displacement: Double)
    ) {
        bound.bridged(velocity: velocity, seconds: seconds, recent: recent)
    }

    /// Goes on with the ground motion of another path, where nothing of the present change concerns it.
    /// - Returns: false where one of the two starts from the mean.
    mutating func goOnWithGround(of old: SignalPath) -> Bool {
        guard !startsFromMean, !old.startsFromMean else { return false }
        takeGroundMotion(old)
        return true
    }

    /// Forgets all samples, but those of the ground motion where it goes on, and what detectors know of the noise.
    mutating func reset(groundGoesOn: Bool = false, noiseGoesOn: Bool = false) {
        mounting.reset()
        offset.reset()
        filter.reset()
        rmsX.reset()
        rmsY.reset()
        rmsZ.reset()
        levelX.reset()
        levelY.reset()
        levelZ.reset()
        if noiseGoesOn { detectors.interrupt() } else { detectors.reset() }
        spikes.reset()
        guard !groundGoesOn else { return }
        ground.reset()
        cwa?.reset()
        first = nil
    }

    /// Writes the raw samples of the station's axes from the sensor's, up to the first that is not usable; `index` of the
    /// first counts from the start or the last gap.
    /// - Returns: how many samples.
    mutating func enter(
        _ block: SampleBlock, from start: Int, count: Int, at index: Int, _ planes: borrowing Planes
    ) -> Int {
        let taken = mounting.copy(block, from: start, count: count, to: planes.raw)
        sources.replace(planes.raw, count: taken, at: index)
        return taken
    }

    /// Goes on with the level that another path has found.
    mutating func takeLevel(_ old: SignalPath) { mounting.takeOver(old.mounting) }

    /// Makes all signals of a chunk from its raw plane.
    /// - Parameter fullScale: from which value on a sample is at the sensor's end, m/s².
    mutating func process(_ planes: borrowing Planes, count: Int, fullScale: Double = .infinity) {
        condition(planes, count: count)
        (planes.hasSpikes.pointee, planes.hasLoneSpikes.pointee) = spikes.process(
            planes.raw, planes.spikes, stride: Planes.capacity, count: count, lone: planes.loneSpikes)
        moveGround(planes, count: count, fullScale: fullScale)
    }

    /// Makes the signals that detectors look at.
    mutating func condition(_ planes: borrowing Planes, count: Int) {
        let capacity = Planes.capacity
        let (o, f, r, t) = (planes.offsetRemoved, planes.filtered, planes.rms, planes.triggered)
        (planes.hasSpikes.pointee, planes.hasLoneSpikes.pointee) = (false, false)
        Planes.copy(planes.raw, o, count: count)
        offset.process(o, o + capacity, o + 2 * capacity, count: count)
        Planes.copy(o, f, count: count)
        filter.process(f, f + capacity, f + 2 * capacity, count: count)
        rmsX.process(f, r, count: count)
        rmsY.process(f + capacity, r + capacity, count: count)
        rmsZ.process(f + 2 * capacity, r + 2 * capacity, count: count)
        levelX.process(r, t, count: count)
        levelY.process(r + capacity, t + capacity, count: count)
        levelZ.process(r + 2 * capacity, t + 2 * capacity, count: count)
    }

    /// Makes velocity and displacement.
    private mutating func moveGround(_ planes: borrowing Planes, count: Int, fullScale: Double) {
        let (capacity, v) = (Planes.capacity, planes.velocity)
        beginGroundMotion(planes, count: count)
        ground.highpass(v, v + capacity, v + 2 * capacity, count: count)
        if cwa != nil {
            let s = planes.scratch
            Planes.copy(v, s, count: count)
            cwa?.process(s, s + capacity, s + 2 * capacity, to: planes.cwa, count: count)
        }
        ground.velocity(v, v + capacity, v + 2 * capacity, count: count)
        let d = planes.displacement
        Planes.copy(v, d, count: count)
        ground.displacement(d, d + capacity, d + 2 * capacity, count: count)
        judge(planes, count: count, fullScale: fullScale)
    }

    /// Writes how far velocity and displacement may be off. A sample at the sensor's end may have been twice as much; a spike
    /// is not the ground's.
    private mutating func judge(_ planes: borrowing Planes, count: Int, fullScale: Double) {
        if planes.isUncertain.pointee, !bound.isActive {
            planes.isUncertain.pointee = false
            planes.velocityError.update(repeating: 0, count: 3 * Planes.capacity)
        }
        var judged = 0
        let (isLimited, hasSpikes) = (fullScale < .infinity, planes.hasLoneSpikes.pointee)
        if isLimited || hasSpikes {
            let (raw, capacity) = (planes.raw, Planes.capacity)
            for i in 0..<count {
                let isClipped =
                    isLimited && mounting.isClipped(raw[i], raw[capacity + i], raw[2 * capacity + i], fullScale)
                let spike = hasSpikes ? planes.loneSpikes[i] : 0
                guard isClipped || spike >= leastSpike else { continue }
                judge(planes, judged..<i)
                if isClipped { bound.clipped(velocity: fullScale / rate) }
                if spike >= leastSpike { bound.spiked(velocity: spike / rate) }
                judged = i
            }
        }
        judge(planes, judged..<count)
        guard hasSpikes else { return }
        for i in 0..<count where planes.loneSpikes[i] >= leastSpike {
            planes.accelerationError[i] = Double(MotionSample.spike)
        }
    }

    private mutating func judge(_ planes: borrowing Planes, _ range: Range<Int>) {
        let (first, count) = (range.lowerBound, range.count)
        guard count > 0 else { return }
        guard bound.isActive else {
            guard planes.isUncertain.pointee else { return }
            (planes.velocityError + first).update(repeating: 0, count: count)
            (planes.displacementError + first).update(repeating: 0, count: count)
            (planes.accelerationError + first).update(repeating: 0, count: count)
            return
        }
        planes.isUncertain.pointee = true
        bound.process(
            raw: planes.raw + first, velocity: planes.velocity + first, displacement: planes.displacement + first,
            stride: Planes.capacity, count: count, planes.velocityError + first, planes.displacementError + first,
            planes.accelerationError + first)
    }

    /// Writes the acceleration that ground motion starts from where the velocity will be.
    private mutating func beginGroundMotion(_ planes: borrowing Planes, count: Int) {
        let (capacity, raw, v) = (Planes.capacity, planes.raw, planes.velocity)
        if startsFromMean { return Planes.copy(planes.offsetRemoved, v, count: count) }
        guard count > 0 else { return }
        let first = self.first ?? (raw[0], raw[capacity], raw[2 * capacity])
        if self.first == nil { bound.begin(first: SIMD3(first.0, first.1, first.2)) }
        self.first = first
        for i in 0..<count {
            v[i] = raw[i] - first.x
            v[capacity + i] = raw[capacity + i] - first.y
            v[2 * capacity + i] = raw[2 * capacity + i] - first.z
        }
    }

    /// Goes on with the ground motion of another path.
    private mutating func takeGroundMotion(_ old: SignalPath) {
        (ground, first, bound) = (old.ground, old.first, old.bound)
        spikes.takeOver(old.spikes)
        if cwa != nil, let before = old.cwa { cwa = before }
    }

    /// Lets the detectors look at the signals of a chunk.
    mutating func detect(_ chunk: DetectorChunk, _ planes: borrowing Planes) {
        detectors.process(chunk, planes.detectors)
    }

    /// Writes what the detectors have found at a sample of the chunk where one is on.
    @inline(__always)
    mutating func readDetectors(_ planes: borrowing Planes, at i: Int) {
        detectors.read(planes.detectors, at: i, into: planes.readings)
    }

    /// Whether a change of settings leaves what enters the filters as it was.
    static func entersAlike(_ new: Configuration, _ old: Configuration) -> Bool {
        new.conditioning.offset == old.conditioning.offset && rawAlike(new, old)
    }

    /// Whether a change of settings leaves the raw samples as they were.
    static func rawAlike(_ new: Configuration, _ old: Configuration) -> Bool {
        var (mounting, before) = (new.sensor.mounting, old.sensor.mounting)
        (mounting.north, before.north) = (0, 0)
        return mounting == before
            && new.sensor.calibration == old.sensor.calibration
            && (0..<3).allSatisfy { new.axes[$0].signal == old.axes[$0].signal }
    }

    /// Goes on from another path, whose offset removal is the same, with every stage that is the same and whose input
    /// is. The RMS of an axis begins anew with its filter or its window, the level detector of an axis also with its
    /// threshold or hold.
    /// - Returns: the axes whose filter goes on.
    mutating func takeOver(_ old: SignalPath, _ new: Configuration, _ was: Configuration) -> PerAxis<Bool> {
        mounting = old.mounting
        offset = old.offset
        takeGroundMotion(old)
        let kept = filter.takeOver(old.filter)
        let (n, w) = (new.axes, was.axes)
        if kept.x, n.x.detection.window == w.x.detection.window {
            rmsX = old.rmsX
            levelX.takeOver(old.levelX)
        }
        if kept.y, n.y.detection.window == w.y.detection.window {
            rmsY = old.rmsY
            levelY.takeOver(old.levelY)
        }
        if kept.z, n.z.detection.window == w.z.detection.window {
            rmsZ = old.rmsZ
            levelZ.takeOver(old.levelZ)
        }
        detectors.takeOver(old.detectors, inputGoesOn: kept.x && kept.y && kept.z)
        var axes = PerAxis(true)
        (axes.x, axes.y, axes.z) = (kept.x, kept.y, kept.z)
        return axes
    }
}

extension DetectorBank {
    /// The detectors that the settings enable.
    init(
        _ configuration: Configuration, rate: Double, levels: DetectorContext.Levels? = nil
    ) throws(StationError) {
        let axes = configuration.axes
        let thresholds = (axes.x.detection.threshold, axes.y.detection.threshold, axes.z.detection.threshold)
        do throws(DetectorError) {
            try self.init(configuration.detection, DetectorContext(rate: rate, thresholds: thresholds, levels: levels))
        } catch {
            throw StationError(path: "/detection/\(error.name)/filter", message: error.error.description)
        }
    }
}
