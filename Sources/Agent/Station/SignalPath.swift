import Seismology
import Settings
import SignalProcessing

/// All stages that turn samples into signals: mounting, test signals, offset removal, filter, RMS, level detection, and
/// ground velocity and the detectors beside them.
struct SignalPath: Sendable {
    var mounting: Mounting
    private let sources: TestSignals
    var offset: OffsetRemoval
    var filter: AxisFilter
    var rmsX: SlidingRMS
    var rmsY: SlidingRMS
    var rmsZ: SlidingRMS
    var levelX: LevelDetector
    var levelY: LevelDetector
    var levelZ: LevelDetector
    var ground: GroundIntegrator
    var detectors: DetectorBank
    /// Seconds that the slowest stage needs after a start or a gap, and that the filter of each axis needs.
    let settlingTime: Double
    let axisSettlingTime: PerAxis<Double>

    /// - Parameter rate: samples per second.
    init(_ configuration: Configuration, rate: Double) throws(StationError) {
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
        detectors = try DetectorBank(configuration, rate: rate)
        func rms(_ axis: AxisConfiguration) -> SlidingRMS {
            SlidingRMS(window: axis.detection.window.samples(at: rate))
        }
        func level(_ axis: AxisConfiguration) -> LevelDetector {
            LevelDetector(threshold: axis.detection.threshold, hold: axis.detection.hold.samples(at: rate))
        }
        (rmsX, rmsY, rmsZ) = (rms(axes.x), rms(axes.y), rms(axes.z))
        (levelX, levelY, levelZ) = (level(axes.x), level(axes.y), level(axes.z))
        var times = PerAxis(x.settlingTime(rate: rate))
        times.y = y.settlingTime(rate: rate)
        times.z = z.settlingTime(rate: rate)
        axisSettlingTime = times
        settlingTime = max(offset.settlingTime, times.x, times.y, times.z, detectors.settlingTime)
    }

    /// Samples after a start or a gap whose mean is wanted by ``setMean(_:_:_:)`` before they are processed.
    var holdBack: Int { offset.holdBack }

    mutating func setMean(_ x: Double, _ y: Double, _ z: Double) { offset.setMean(x, y, z) }

    /// Forgets all samples.
    mutating func reset() {
        mounting.reset()
        offset.reset()
        filter.reset()
        rmsX.reset()
        rmsY.reset()
        rmsZ.reset()
        levelX.reset()
        levelY.reset()
        levelZ.reset()
        ground.reset()
        detectors.reset()
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
    mutating func process(_ planes: borrowing Planes, count: Int) {
        let capacity = Planes.capacity
        let (o, f, r, v, t) = (planes.offsetRemoved, planes.filtered, planes.rms, planes.velocity, planes.triggered)
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
        Planes.copy(o, v, count: count)
        ground.velocity(v, v + capacity, v + 2 * capacity, count: count)
        let d = planes.displacement
        Planes.copy(v, d, count: count)
        ground.displacement(d, d + capacity, d + 2 * capacity, count: count)
    }

    /// Lets the detectors look at the signals of a chunk.
    mutating func detect(_ chunk: DetectorChunk, _ planes: borrowing Planes) {
        detectors.process(chunk, planes.detectors)
    }
}

extension DetectorBank {
    /// The detectors that the settings enable.
    init(_ configuration: Configuration, rate: Double) throws(StationError) {
        let axes = configuration.axes
        let thresholds = (axes.x.detection.threshold, axes.y.detection.threshold, axes.z.detection.threshold)
        do throws(DetectorError) {
            try self.init(configuration.detection, DetectorContext(rate: rate, thresholds: thresholds))
        } catch {
            throw StationError(path: "/detection/\(error.name)/filter", message: error.error.description)
        }
    }
}
