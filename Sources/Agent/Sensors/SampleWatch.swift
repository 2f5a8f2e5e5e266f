import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Faults in the samples of a sensor that does send some.
public struct SampleFaults: OptionSet, Sendable, Equatable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// All axes have given the same values for so long that no sensor with noise does: the numbers say nothing.
    public static let stuck = SampleFaults(rawValue: 1)
    /// One or two axes have, while another moves.
    public static let axisStuck = SampleFaults(rawValue: 2)
    /// A good part of each second is at full scale.
    public static let saturated = SampleFaults(rawValue: 4)
    /// At rest something else than gravity, or no numbers at all: the numbers say nothing.
    public static let implausible = SampleFaults(rawValue: 8)
}

/// Looks at every sample of a sensor for what no healthy sensor gives, as it comes from the driver, before calibration
/// and mounting. Pure: counts samples, knows no clock; the same samples give the same findings however they are cut
/// into blocks. Costs about 30 ns a sample, takes no memory.
///
/// | Fault | Raised | Cleared |
/// |---|---|---|
/// | ``SampleFaults/stuck`` | all axes the same, exactly, for 1 s and 50 samples, and longer than this sensor repeats itself | after 3 changes |
/// | ``SampleFaults/axisStuck`` | one axis, for 30 s | after 3 changes of it |
/// | ``SampleFaults/saturated`` | 5 % of a second at full scale on any axis | after 5 s without a single sample there |
/// | ``SampleFaults/implausible`` | for 10 s the mean of each second is below 0.5 g or above 1.5 g, or most of it is no number | after 1 s between 0.6 g and 1.4 g |
///
/// The mean is that of the vector, so that shaking, which goes both ways, does not count; a second that moves for other
/// reasons is followed by others. A sensor with steps of more than 5 mg may have noise far below its step, and no axis
/// of it is judged alone, all three only after it has moved enough to show that it does not stand still by itself:
/// ADXL345, 3.9 mg, has 0.75 steps of noise (Analog Devices, data sheet rev. E, p. 4), LIS3DH in its 8-bit mode 16 mg
/// and a tenth of a step.
public struct SampleWatch: Sendable, Equatable {
    /// Faults at present.
    public private(set) var faults: SampleFaults = []
    /// Share of the last whole second's samples at full scale.
    public private(set) var saturatedShare = 0.0
    /// Magnitude of the last whole second's mean in m/s²; NaN when it had no numbers.
    public private(set) var restMagnitude = 0.0

    private let second: Int
    private let fullScale: Double
    private var all: Repetition
    private var x: Repetition
    private var y: Repetition
    private var z: Repetition
    private var last = (x: Double.nan, y: Double.nan, z: Double.nan)
    // The present second.
    private var seen = 0
    private var numbers = 0
    private var atFullScale = 0
    private var sum = (x: 0.0, y: 0.0, z: 0.0)
    // Seconds in a row.
    private var impossible = 0
    private var unsaturated = 0

    static let axisTime = 30.0
    static let secondsToFindImplausible = 10
    static let secondsToClearSaturated = 5
    static let saturatedLimit = 0.05

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - range: full scale in m/s²; nil when not known, then saturation is not looked for.
    ///   - resolution: smallest step in m/s²; nil when not known.
    public init(rate: Double, range: Double?, resolution: Double?) {
        let rate = rate.isFinite ? min(max(rate, 0.1), 1e6) : 100
        second = max(1, Int(rate.rounded()))
        // The largest number of a coarse sensor is a step below its range.
        fullScale = range.map { min($0 * 0.999, $0 - 1.5 * min(resolution ?? 0, $0 / 10)) } ?? .infinity
        let isCoarse = (resolution ?? 0) > 0.005 * standardGravity
        let share = isCoarse ? 1.0 : 0.0
        all = Repetition(shortest: max(50, second), share: share)
        x = Repetition(shortest: isCoarse ? .max : max(50, Int(Self.axisTime * rate)), share: share)
        y = x
        z = x
    }

    /// The axes that stand still, bits 0, 1, 2.
    public var stuckAxes: UInt8 {
        if all.isStuck { return 7 }
        return (x.isStuck ? 1 : 0) | (y.isStuck ? 2 : 0) | (z.isStuck ? 4 : 0)
    }

    /// Takes the samples of a block.
    /// - Returns: true when what is wrong has changed.
    public mutating func take(_ block: borrowing SampleBlock) -> Bool {
        let before = faults
        var next = self
        block.withPlanes { px, py, pz, count in
            for i in 0..<count { next.take(px[i], py[i], pz[i]) }
        }
        self = next
        return faults != before
    }

    @inline(__always)
    private mutating func take(_ vx: Double, _ vy: Double, _ vz: Double) {
        let (sx, sy, sz) = (vx == last.x, vy == last.y, vz == last.z)
        last = (vx, vy, vz)
        x.take(same: sx)
        y.take(same: sy)
        z.take(same: sz)
        all.take(same: sx && sy && sz)
        let isNumber = vx.magnitude <= 1e6 && vy.magnitude <= 1e6 && vz.magnitude <= 1e6
        if isNumber {
            numbers += 1
            sum.x += vx
            sum.y += vy
            sum.z += vz
            if vx.magnitude >= fullScale || vy.magnitude >= fullScale || vz.magnitude >= fullScale { atFullScale += 1 }
        }
        seen += 1
        if seen == second { endSecond() }
        setRepetition()
    }

    @inline(__always)
    private mutating func setRepetition() {
        if all.isStuck { faults.insert(.stuck) } else { faults.remove(.stuck) }
        if !all.isStuck && (x.isStuck || y.isStuck || z.isStuck) {
            faults.insert(.axisStuck)
        } else {
            faults.remove(.axisStuck)
        }
    }

    private mutating func endSecond() {
        saturatedShare = Double(atFullScale) / Double(second)
        if atFullScale > 0 {
            unsaturated = 0
            if saturatedShare >= Self.saturatedLimit { faults.insert(.saturated) }
        } else {
            unsaturated += 1
            if unsaturated >= Self.secondsToClearSaturated { faults.remove(.saturated) }
        }
        let n = Double(numbers)
        let hasNumbers = 2 * numbers > second
        restMagnitude = hasNumbers ? ((sum.x * sum.x + sum.y * sum.y + sum.z * sum.z).squareRoot() / n) : .nan
        let g = restMagnitude / standardGravity
        if g >= 0.5 && g <= 1.5 {
            impossible = 0
            if g >= 0.6 && g <= 1.4 { faults.remove(.implausible) }
        } else {
            impossible += 1
            if impossible >= Self.secondsToFindImplausible { faults.insert(.implausible) }
        }
        (seen, numbers, atFullScale) = (0, 0, 0)
        sum = (0, 0, 0)
    }

    public static func == (a: SampleWatch, b: SampleWatch) -> Bool {
        a.faults == b.faults && a.saturatedShare == b.saturatedShare
            && a.restMagnitude.bitPattern == b.restMagnitude.bitPattern && a.all == b.all && a.x == b.x && a.y == b.y
            && a.z == b.z && a.seen == b.seen && a.numbers == b.numbers && a.atFullScale == b.atFullScale
            && a.sum == b.sum && a.impossible == b.impossible && a.unsaturated == b.unsaturated
    }
}

/// Finds a value that repeats itself for longer than it does by itself.
///
/// A MEMS sensor whose noise is about its smallest step or more hardly ever gives the same value on three axes twice. A
/// coarse one, whose noise is far below its step, may stand still for minutes and be well. So the share of repeated
/// samples is learned, over the last few thousand samples, and a run counts as stuck when it has lasted the shortest
/// time of all and would, with that share, come by once in 10⁹ samples.
struct Repetition: Sendable, Equatable {
    /// Samples since the start of the run that equal its first.
    private(set) var run = 0
    private(set) var isStuck = false
    /// Share of samples that equal the one before them.
    private(set) var share: Double
    /// Samples that a run must have whatever the share is.
    private let shortest: Int
    /// Samples at which the present run is stuck, once it has reached the shortest.
    private var limit = Int.max
    /// Changes since a run of half the shortest.
    private var changes = 0

    /// The share is learned over this many samples; a run counts as a third of them at most, so that a freeze of
    /// minutes does not pass for the sensor's nature.
    private static let memory = 3000.0
    private static let longestLesson = 1000
    /// A stuck value is a good one again after so many changes without a long run between them.
    private static let changesToClear = 3
    /// ln 10⁻⁹.
    private static let rare = -20.723

    init(shortest: Int, share: Double) {
        self.shortest = max(2, shortest)
        self.share = share
    }

    /// Takes a sample that equals the one before, or does not.
    @inline(__always)
    mutating func take(same: Bool) {
        if same {
            run += 1
            if run >= shortest / 2 { grow() }
        } else {
            if run > 0 { end() }
            share -= share * (1 / Self.memory)
            if isStuck { changed() }
        }
    }

    private mutating func grow() {
        if run == shortest / 2 { changes = 0 }
        if run == shortest {
            let expected = share > 0 ? Self.rare / log(min(share, 0.99999)) : 0
            limit = max(shortest, Int(expected))
        }
        if run >= shortest && run >= limit { isStuck = true }
    }

    private mutating func end() {
        share += (1 - share) * (Double(min(run, Self.longestLesson)) / Self.memory)
        run = 0
    }

    private mutating func changed() {
        changes += 1
        if changes >= Self.changesToClear {
            isStuck = false
            changes = 0
        }
    }
}
