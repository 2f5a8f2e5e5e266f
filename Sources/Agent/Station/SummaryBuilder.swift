import Messages
import Seismology
import Settings
import SignalProcessing

/// Collects what `state/summary` says once a second. The message is complete a few samples after its second, when the
/// work that is spread over them is done.
struct SummaryBuilder: ~Copyable {
    private let rate: Double
    private let scales: [IntensityRelation]
    private let horizontal: HorizontalDefinition
    private let north: Double
    private let jmaWindow: Double
    private let detectors: [DetectorFacts]
    private var ratios: [LargestRatios]
    private var window: MotionWindow
    private var monitor: GroundMonitor
    /// The summary of the last second, once it is due.
    private(set) var message = SummaryMessage()
    /// Its time, nanoseconds of UTC.
    private(set) var time: Int64 = 0
    /// True from the end of a second until its summary has been taken.
    private(set) var isPending = false
    /// Peaks of the pending summary.
    private var peaks = IntensityPeaks(pga: 0, pgv: 0)
    private var magnitude = 0.0
    /// Sums of the raw samples of the present second.
    private var sum = (x: 0.0, y: 0.0, z: 0.0, count: 0)
    /// Mean of the raw samples of the last second.
    private(set) var mean: AxisValues<Double>?
    var extremes: SummaryMessage.Extremes?
    /// Whole seconds of the present stretch that are over, and the sample at which the next one is.
    private var seconds = 0
    private var boundary: Int
    /// The sample of the stretch with which its first second began: below 0 where that began before a gap.
    private var origin = 0
    /// Whether no gap has been bridged since the start or the last one that was not.
    private var isAfterStart = true

    init(_ configuration: Configuration, rate: Double) {
        self.rate = rate
        scales = configuration.intensity.scales
        jmaWindow = configuration.intensity.jmaWindow
        horizontal = configuration.intensity.horizontal
        north = configuration.sensor.mounting.north
        detectors = configuration.detection.enabled
        ratios = detectors.compactMap { LargestRatios($0) }
        let length = max(1, Int(configuration.intensity.window.rounded()))
        window = MotionWindow(seconds: length)
        monitor = GroundMonitor(configuration, rate: rate)
        message.window = Double(length)
        message.detectors.reserveCapacity(detectors.count)
        message.ratios.reserveCapacity(ratios.count)
        boundary = SummaryBuilder.sample(ofSecond: 1, rate)
    }

    /// Goes on from another builder with everything that does not depend on what has changed.
    mutating func takeOver(_ old: inout SummaryBuilder, _ new: Configuration, _ was: Configuration) {
        if message.window == old.message.window { window = old.window }
        monitor.takeOver(old.monitor, new, was)
        (extremes, magnitude, seconds, boundary) = (old.extremes, old.magnitude, old.seconds, old.boundary)
        (origin, isAfterStart) = (old.origin, old.isAfterStart)
        (sum, mean) = (old.sum, old.mean)
        for k in ratios.indices {
            if let same = old.ratios.first(where: { $0.isOfSame(ratios[k]) }) { ratios[k] = same }
        }
        if old.isPending { (message, peaks, time, isPending) = (old.message, old.peaks, old.time, true) }
    }

    private static func sample(ofSecond second: Int, _ rate: Double) -> Int {
        max(1, Int((Double(second) * rate).rounded(.toNearestOrEven)))
    }

    /// Forgets the window, keeps the extremes.
    mutating func reset() {
        window.reset()
        monitor.reset()
        isPending = false
        sum = (0, 0, 0, 0)
        for k in ratios.indices { ratios[k].reset() }
        (seconds, origin, isAfterStart) = (0, 0, true)
        boundary = Self.sample(ofSecond: 1, rate)
    }

    /// A new stretch follows a gap that is bridged: window and present second go on.
    /// - Parameters:
    ///   - taken: samples of the stretch before.
    ///   - missing: samples of the gap.
    mutating func goOn(after taken: Int, missing: Int) {
        isAfterStart = false
        let begun = seconds > 0 ? boundaryBefore : origin
        let whole = Self.sample(ofSecond: 1, rate)
        origin = -((taken + missing - begun) % whole)
        seconds = 0
        boundary = origin + Self.sample(ofSecond: 1, rate)
    }

    /// The sample with which the present second began.
    private var boundaryBefore: Int { origin + Self.sample(ofSecond: seconds, rate) }

    /// Takes samples of a gap, for the windows that are looked at as a whole.
    mutating func bridge(_ planes: borrowing Planes, count: Int, _ peaks: UncertainPeaks) {
        window.bridge(peaks)
        monitor.push(planes.offsetRemoved, count: count)
    }

    /// Largest motion of the window.
    var recent: MotionWindow.Recent { window.recent }

    /// The next sample's values begin the extremes anew.
    mutating func resetExtremes() { extremes = nil }

    /// Samples before the last one of the present second, from one number of the stretch on.
    func left(from index: Int) -> Int { boundary - 1 - index }

    /// Takes `count` samples of a chunk from its sample `i` on, all of one second.
    mutating func push(_ planes: borrowing Planes, _ i: Int, count: Int) {
        let capacity = Planes.capacity
        window.add(
            count, acceleration: planes.offsetRemoved + i, velocity: planes.velocity + i,
            displacement: planes.displacement + i, cwa: planes.cwa + i, stride: capacity, errors: planes.errors(i))
        monitor.push(planes.offsetRemoved + i, count: count)
        for k in ratios.indices { ratios[k].take(planes, i, count: count) }
        let (x, y, z) = (planes.raw + i, planes.raw + i + capacity, planes.raw + i + 2 * capacity)
        func single(_ value: Double) -> SummaryMessage.Extreme {
            .init(min: value, max: value, since: planes.times[i])
        }
        func square(_ k: Int) -> Double { x[k] * x[k] + y[k] * y[k] + z[k] * z[k] }
        var all =
            extremes
            ?? .init(x: single(x[0]), y: single(y[0]), z: single(z[0]), magnitude: single(square(0).squareRoot()))
        var (least, most) = (Double.infinity, 0.0)
        for k in 0..<count {
            all.x.take(x[k])
            all.y.take(y[k])
            all.z.take(z[k])
            sum.x += x[k]
            sum.y += y[k]
            sum.z += z[k]
            let square = square(k)
            least = min(least, square)
            most = max(most, square)
        }
        all.magnitude.take(least.squareRoot())
        all.magnitude.take(most.squareRoot())
        sum.count += count
        extremes = all
        magnitude = square(count - 1).squareRoot()
    }

    /// Says what the open event is taken for.
    mutating func take(eventClass: EventClass?, alarm: Bool) {
        (message.eventClass, message.alarm) = (eventClass, alarm)
    }

    /// JMA intensity of the last window, before rounding, when there is one.
    var jma: Double? { monitor.jma }

    /// Samples at which nothing is to be done for the pending summary.
    var pause: Int { monitor.pause }

    /// Goes on by such samples.
    mutating func skip(_ count: Int) { if isPending { monitor.skip(count) } }

    /// Works on the pending summary; true when it is due.
    mutating func step() -> Bool {
        guard monitor.step() else { return false }
        complete()
        return true
    }

    /// Makes room for the work on an event that has ended.
    mutating func giveBackRoom() { monitor.giveBackRoom() }

    /// Completes the pending summary at once.
    mutating func finish() {
        monitor.finish()
        complete()
    }

    private mutating func complete() {
        isPending = false
        message.spectrum = monitor.spectrum
        message.intensity.removeAll(keepingCapacity: true)
        for relation in scales {
            guard var value = IntensityValue(relation, peaks, jma: monitor.jma) else { continue }
            value.window = relation == .jma ? jmaWindow : message.window
            message.intensity.append(value)
        }
    }

    /// Ends a second at a time (ns of UTC); its summary is then pending.
    mutating func endSecond(state: DetectionState, time: Int64) {
        self.time = time
        isPending = true
        let n = Double(max(1, sum.count))
        mean = AxisValues(x: sum.x / n, y: sum.y / n, z: sum.z / n)
        sum = (0, 0, 0, 0)
        monitor.begin()
        seconds += 1
        boundary = origin + Self.sample(ofSecond: seconds + 1, rate)
        let levels = window.endSecond(isAfterStart: isAfterStart)
        let moments = levels.moments
        let (xx, yy, zz) = (moments.xx, moments.yy, moments.zz)
        func level(_ squares: Double, _ peak: Double, _ sum: Double, _ velocity: Double) -> SummaryMessage.Level {
            .init(
                rms: moments.rms(squares), peak: peak, rsam: sum / Double(max(1, moments.samples)), velocity: velocity)
        }
        let (velocity, horizontals) = (levels.velocity, levels.velocity.horizontal)
        message.levels.x = level(xx, levels.peakX, levels.sumX, horizontals.x)
        message.levels.y = level(yy, levels.peakY, levels.sumY, horizontals.y)
        message.levels.z = level(zz, levels.peakZ, levels.sumZ, velocity.z)
        message.levels.h = level(xx + yy, levels.peakH, levels.sumH, horizontals.vector)
        message.levels.v3 = level(xx + yy + zz, levels.peakV3, levels.sumV3, velocity.v3)
        message.pga = horizontal.combine(x: levels.peakX, y: levels.peakY, vector: levels.peakH)
        message.pgaPercentG = message.pga / standardGravity * 100
        message.pgv = horizontals.combined(horizontal)
        peaks = IntensityPeaks(pga: message.pga, pgv: message.pgv, cwa: levels.cwa, vectorPGV: velocity.v3)
        message.pgd = levels.displacement.combined(horizontal)
        message.magnitude = magnitude
        message.direction = Direction(
            strongest: levels.strongest, moments.polarization(toward: levels.strongest), north: north)
        message.ratios.removeAll(keepingCapacity: true)
        for k in ratios.indices {
            message.ratios.append(ratios[k].message)
            ratios[k].reset()
        }
        message.triggered = state.on != 0
        message.detectors.removeAll(keepingCapacity: true)
        for one in detectors where state.isOn(one.number) { message.detectors.append(one.name) }
        message.extremes = extremes
        let uncertain = levels.uncertain
        let isCertain =
            uncertain.allow(velocity: horizontals) && uncertain.allow(displacement: levels.displacement)
            && uncertain.allow(acceleration: max(levels.peakX, levels.peakY))
        let reason = state.invalid ?? (isCertain ? nil : state.uncertain)
        message.valid = reason == nil
        message.reason = reason?.rawValue
    }
}

/// Why numbers are not yet to be trusted.
public enum InvalidReason: String, Sendable {
    /// The filters have not settled since the start.
    case settling
    /// The filters have not settled since samples were missing.
    case gap
    /// The sensor gives the same numbers all the time.
    case stuck
    /// The sensor gives what it cannot measure.
    case implausible
    /// A spike of a single sample has left something in the numbers.
    case spike
    /// The ground may have moved more than the sensor can measure.
    case clipped
}

/// State of the detectors at one sample.
struct DetectionState: Sendable {
    /// Bit d: detector d of the list is on.
    var on: UInt8
    var invalid: InvalidReason?
    /// Why velocity and displacement are not, where they are too uncertain.
    var uncertain = InvalidReason.settling

    var detectorsOn: Int { on.nonzeroBitCount }
    func isOn(_ detector: Int) -> Bool { on >> UInt8(detector) & 1 != 0 }
}

/// The largest ratios of one detector in a second.
private struct LargestRatios: Sendable {
    private let detector: DetectorFacts
    private let signal: DetectorSignal
    private var values: Ratios = (0, 0, 0)

    /// Nil for a detector that has none.
    init?(_ detector: DetectorFacts) {
        guard detector.isRatio, let signal = detector.signal else { return nil }
        (self.detector, self.signal) = (detector, signal)
    }

    func isOfSame(_ other: LargestRatios) -> Bool { detector == other.detector }

    mutating func reset() { values = (0, 0, 0) }

    mutating func take(_ planes: borrowing Planes, _ i: Int, count: Int) {
        let (capacity, ratio) = (Planes.capacity, planes.detectors.values + 3 * detector.number * Planes.capacity + i)
        var largest = values.first
        for k in 0..<count { largest = max(largest, ratio[k]) }
        values.first = largest
        guard signal == .each else { return }
        for k in 0..<count {
            values.second = max(values.second, ratio[capacity + k])
            values.third = max(values.third, ratio[2 * capacity + k])
        }
    }

    var message: DetectorRatios { DetectorRatios(detector.name, RatioValues(values, of: signal)) }
}

extension SummaryMessage.Extreme {
    fileprivate mutating func take(_ value: Double) {
        if value < min { min = value }
        if value > max { max = value }
    }
}

extension IntensityValue {
    /// A relation's answer as messages carry it; nil where it has none.
    /// - Parameter jma: instrumental intensity, not rounded.
    package init?(_ relation: IntensityRelation, _ peaks: IntensityPeaks, jma: Double?) {
        let estimate: IntensityEstimate
        if relation == .jma {
            guard let jma else { return nil }
            estimate = IntensityEstimate(value: JMAIntensity.reported(jma))
        } else {
            guard let found = relation.estimate(peaks) else { return nil }
            estimate = found
        }
        let (scale, value) = (relation.scale, estimate.value)
        self.init(
            scale: scale.rawValue, relation: relation.rawValue, value: value, roman: scale.roman(value),
            grade: scale.grade(value), color: scale.color(value), fromPGA: estimate.fromPGA, fromPGV: estimate.fromPGV,
            sigma: estimate.sigma, raw: relation == .jma ? jma : nil)
    }
}
