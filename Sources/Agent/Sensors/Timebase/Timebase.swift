import Instruments
import SignalProcessing

/// Time of the samples of a live sensor. Its chip has a clock of its own, often some per cent off; the host says only
/// now and then, and late, how many samples there were. From that: the true rate, and the time of every block.
///
/// Pure: the driver reads the clocks. The count of samples is regressed on the monotonic clock, which nobody sets
/// (``CountRegression``); UTC is put on at the end. Beside the regression go bounds (``LineBounds``), since what is seen
/// is one-sided: a sample that is there has been taken before; one that is not will be later; a stamp is late or right,
/// never early. They take out what an average cannot: a reader in step with the chip, an interrupt that always comes
/// late. Blocks without a gap between them lie on the line of the rate; corrections are small steps.
public struct Timebase: Sendable {
    public enum Observation: Sendable {
        /// The block's last sample was taken at this moment (kernel's IIO time stamp, interrupt).
        case stamped(ClockReading)
        /// All samples up to the block's last and `left` more were there, and the next one was not, when the level of the
        /// FIFO was read between these moments.
        case level(before: ClockReading, after: ClockReading, left: Int)
    }

    /// Jumps of the wall clock.
    public var clockSteps: Int { wall.steps + jumps }
    /// Reads that took too long, or stamps that came too late, to say anything about time.
    public private(set) var slowReads = 0
    /// Blocks whose stamp was not after the one before.
    public private(set) var duplicates = 0

    private let nominalPeriod: Double
    private var line: CountRegression?
    private var bounds = LineBounds()
    private var wall = WallOffset()
    private var noise: ObservationNoise
    /// The next block comes after an interruption.
    private var interrupted = false
    /// Observations that do not fit the line, one after the other, and the last one's distance in samples.
    private var misfits = 0
    private var misfit = 0.0
    /// Observations that fitted since samples were last found missing that nobody had told of.
    private var sinceShift = 1000
    /// Monotonic time of the last stamp.
    private var lastStamp = Int64.min
    /// UTC at which a block would begin that follows the last one; nil before the first.
    private var next: Int64?
    private var lastPeriod = 0.0
    /// Times at which all earlier times turned out to be wrong.
    private var jumps = 0
    /// How much of the last correction is still to come (ns).
    private var pending = 0.0
    /// Samples in the last block.
    private var lastCount = 1
    /// Monotonic time of the first observation of the present line, and of the last one.
    private var began: Int64 = 0
    private var seen: Int64 = 0
    private var readsByLevel = false
    private var dither = 0.5

    /// - Parameter nominalRate: samples per second that the chip should give; the true ones may be a quarter off.
    public init(nominalRate: Double) {
        nominalPeriod = 1e9 / max(nominalRate, 0.01)
        noise = ObservationNoise(period: nominalPeriod)
    }

    /// True samples per second; nil until they are known to about a per cent.
    public var rate: MeasuredRate? {
        guard let line else { return nil }
        let relative = rateUncertainty(line)
        guard relative < 0.01 else { return nil }
        let rate = 1e9 / line.period
        return MeasuredRate(rate: rate, uncertainty: rate * relative)
    }

    /// Standard uncertainty of the time of a block against the host's clock, in s; nil before the first.
    public var timeError: Double? {
        guard let line else { return nil }
        return (timeUncertainty(line) + abs(pending)) * 1e-9
    }

    /// The block is the first after an interruption: the chip was started again. The rate is remembered, the moment of
    /// its samples is not.
    public mutating func interrupt() {
        if line != nil { interrupted = true }
        lastStamp = .min
    }

    /// Monotonic time at which `count` samples beyond the last block's last will be there. With FIFO levels the moment
    /// moves evenly over the interval of a sample from read to read (golden section), so that the reads tell where the
    /// samples are.
    /// - Parameter spread: part of the interval over which it moves; less where a sample is lost when it is read late.
    public mutating func due(samples count: Int, now: Int64, spread: Double = 1) -> Int64 {
        guard let line else { return now &+ Int64(Double(count) * nominalPeriod) }
        dither += 0.618_033_988_749_895
        if dither >= 1 { dither -= 1 }
        return line.time(ahead: Double(count) + (readsByLevel ? dither * spread : 0))
    }

    /// Takes what was read, says when the block's first sample was taken and whether there is a gap before it.
    /// - Parameters:
    ///   - count: samples in the block.
    ///   - lost: samples known to be missing before the block; nil: some, number unknown.
    public mutating func take(count: Int, lost: Int?, _ observation: Observation) -> BlockTime {
        let threshold = Int64(max(2e6, nominalPeriod / 2))
        let observation = observation.bounded
        var stepped = false
        switch observation {
        case .stamped(let reading):
            stepped = wall.take(reading, threshold: threshold)
            readsByLevel = false
        case .level(let before, let after, _):
            stepped = wall.take(before, threshold: threshold)
            if wall.take(after, threshold: threshold) { stepped = true }
            readsByLevel = true
        }
        // What a device says of itself may be anything.
        let lost = lost.map { min(max($0, 0), Self.most) }
        if let line, abs(line.time()) > Self.farthest {
            self.line = nil
            misfits = 0
        }
        let sight = noise.sight(observation, wall: wall, line: line, count: count + (lost ?? 0))
        if sight.isStamp {
            // More than a second back is no duplicate: then it was the last stamp that was wrong.
            if sight.moment <= lastStamp, lastStamp < sight.moment &+ 1_000_000_000, !stepped {
                duplicates += 1
                var time = BlockTime(time: next ?? sight.moment &+ (wall.value ?? 0), gapBefore: false, lostBefore: 0)
                time.isDuplicate = true
                return time
            }
            lastStamp = sight.moment
        }
        let gap = follow(sight, count: count, lost: lost)
        return output(count: count, gap: gap, stepped: stepped)
    }

    /// Samples that one gap can have at most, and the time (ns) beyond which a line is nonsense: 2115 by the wall clock.
    private static let most = 1 << 40
    private static let farthest: Int64 = 4_600_000_000_000_000_000

    // MARK: The line

    /// A gap that the line was brought over: how many samples are missing.
    private struct Gap {
        var lost: Int
    }

    /// Brings the line to the block's last sample and takes the observation. Returns the gap before the block.
    private mutating func follow(_ sight: Sight, count: Int, lost: Int?) -> Gap? {
        guard var line else {
            begin(sight)
            return Gap(lost: 0)
        }
        if interrupted { return resume(line, sight, count: count) }
        var gap: Gap?
        if let lost, lost > 0 { gap = Gap(lost: lost) }
        advance(&line, count + (lost ?? 0))
        if lost == nil {
            // The chip has gone on in step: a whole number of samples, as near as its rate is known.
            let residual = line.residual(sight.moment, ahead: sight.ahead)
            let missing = max(1, Int(min((residual / line.period).rounded(), 1e12)))
            gap = Gap(lost: missing)
            advance(&line, missing)
            if line.uncertainty() > 0.25 * line.period {
                begin(sight, period: line.period, uncertainty: line.periodUncertainty)
                return gap
            }
        }
        if sight.isSlow {
            slowReads += 1
            self.line = line
            return gap
        }
        let residual = line.residual(sight.moment, ahead: sight.ahead)
        guard fits(line, sight, residual) else { return misfitted(line, sight, residual) ?? gap }
        misfits = 0
        sinceShift = min(sinceShift + 1, 1000)
        observe(&line, sight, residual)
        self.line = line
        if line.period < 0.5 * nominalPeriod || line.period > 2 * nominalPeriod {
            // No chip is that far off: the times were nonsense.
            begin(sight)
        }
        return gap
    }

    /// Starts a line at an observation, with nothing known of the rate but the nominal one.
    private mutating func begin(_ sight: Sight) {
        begin(sight, period: nominalPeriod, uncertainty: nominalPeriod * 0.05)
    }

    /// Starts a line at an observation.
    private mutating func begin(_ sight: Sight, period given: Double, uncertainty: Double) {
        // However often it is misled, it looks for the rate near the nominal one.
        let period = min(max(given, 0.6 * nominalPeriod), 1.6 * nominalPeriod)
        var line = CountRegression(
            time: sight.moment, uncertainty: sight.deviation, period: period, periodUncertainty: uncertainty)
        // The line is that of the block's last sample; the observation is of a later one.
        line.shift(-sight.ahead * period)
        self.line = line
        bounds = LineBounds()
        bounds.narrow(lower: sight.lower, upper: sight.upper)
        noise.forget()
        (began, seen) = (sight.moment, sight.moment)
        (misfits, interrupted) = (0, false)
    }

    /// After an interruption: the rate is as before, the rest is new.
    private mutating func resume(_ line: CountRegression, _ sight: Sight, count: Int) -> Gap {
        let period = line.period
        let missing = (line.residual(sight.moment, ahead: sight.ahead) / period).rounded() - Double(count)
        let inherited = max(line.periodUncertainty, 2e-4 * period)
        let span = seen &- began
        defer { began = seen &- span }
        begin(sight, period: period, uncertainty: inherited)
        return Gap(lost: max(0, Int(min(missing, 1e12))))
    }

    private mutating func advance(_ line: inout CountRegression, _ count: Int) {
        bounds.widen(Double(count) * 3 * line.periodUncertainty)
        line.advance(count)
    }

    private mutating func observe(_ line: inout CountRegression, _ sight: Sight, _ residual: Double) {
        bounds.narrow(lower: residual + sight.lower, upper: residual + sight.upper)
        noise.take(residual, sight, line.uncertainty(ahead: sight.ahead))
        let correction = line.observe(residual, ahead: sight.ahead, variance: sight.deviation * sight.deviation)
        bounds.move(correction)
        seen = sight.moment
    }

    /// Whether an observation can be true if the line is. A level excludes what is outside its bounds.
    private func fits(_ line: CountRegression, _ sight: Sight, _ residual: Double) -> Bool {
        let unsure = 4 * line.uncertainty(ahead: sight.ahead)
        guard abs(residual) <= sight.tolerance + unsure + 0.1 * line.period else { return false }
        let outside = max(residual + sight.lower - bounds.upper, bounds.lower - residual - sight.upper)
        return sight.isStamp || outside <= min(unsure, 0.5 * line.period) + 0.05 * line.period
    }

    /// An observation does not fit. One alone is a slow read; what comes again in the same way is true: samples that
    /// nobody knew to be missing, or a chip that runs otherwise than before.
    private mutating func misfitted(_ line: CountRegression, _ sight: Sight, _ residual: Double) -> Gap? {
        let samples = residual / line.period
        // Eleven days: no gap, but a clock that was wrong.
        let isFar = abs(residual) > 1e15
        let isAlike = misfits > 0 && (isFar || abs(samples - misfit) < 1)
        misfits = isAlike || misfits == 0 ? misfits + 1 : 1
        misfit = samples
        slowReads += 1
        var line = line
        guard misfits >= (sight.isStamp ? 4 : 3) else {
            self.line = line
            return nil
        }
        misfits = 0
        if isFar {
            begin(sight)
            return Gap(lost: 0)
        }
        let missing = Int(min(max(samples.rounded(), -1e12), 1e12))
        // Once is a loss, again and again is another rate.
        if abs(missing) >= 1, sinceShift >= 64, !sight.isStamp || abs(samples - Double(missing)) < 0.3 {
            sinceShift = 0
            line.shift(Double(missing) * line.period)
            self.line = line
            return Gap(lost: max(0, missing))
        }
        begin(sight, period: line.period, uncertainty: max(line.periodUncertainty, 0.05 * line.period))
        return nil
    }

    // MARK: Uncertainty

    private func timeUncertainty(_ line: CountRegression) -> Double {
        let own = line.uncertainty(ahead: 1 - Double(lastCount))
        let unseen = min(noise.bias, bounds.width / 3.46)
        return (own * own + unseen * unseen).squareRoot()
    }

    /// Relative standard uncertainty of the rate.
    private func rateUncertainty(_ line: CountRegression) -> Double {
        let own = line.periodUncertainty / line.period
        let span = min(max(Double(seen &- began), nominalPeriod), 60e9)
        let unseen = min(noise.bias, bounds.width / 3.46) / span
        return (own * own + unseen * unseen).squareRoot()
    }

    // MARK: Time of the block

    private mutating func output(count: Int, gap: Gap?, stepped: Bool) -> BlockTime {
        guard let line else { return BlockTime(time: 0, gapBefore: true, lostBefore: 0) }
        lastCount = count
        let correction = bounds.nearest(to: 0)
        let drawn = Int64(min(max(correction.rounded(), -1e15), 1e15)) &+ (wall.value ?? 0)
        let first = min(max(line.time(ahead: 1 - Double(count)) &+ drawn, 0), Self.farthest)
        let span = Double(count) * line.period
        var time = first
        pending = 0
        if let next {
            let isNew = gap != nil || stepped
            let expected = Double(first &- next)
            if !isNew {
                // What is not yet known well may be corrected faster, but never backwards.
                let most = 0.45 * min(line.period, lastPeriod)
                let unsure = timeUncertainty(line) / line.period
                let limit = min(max(0.01 * line.period, (2 * unsure - 0.3) * line.period, abs(expected) / 8), most)
                let moved = min(max(expected, -limit), limit)
                pending = expected - moved
                time = next &+ Int64(moved.rounded())
            } else if !stepped, expected < -1e9 {
                // What was said before was wrong; to wait until it comes true would be worse.
                jumps += 1
            } else if !stepped, expected < 0 {
                time = next
            }
        }
        time = min(max(time, 0), Self.farthest)
        next = time &+ Int64(min(span, 1e15).rounded())
        lastPeriod = line.period
        return BlockTime(time: time, gapBefore: gap != nil || stepped, lostBefore: stepped ? 0 : gap?.lost ?? 0)
    }
}

extension Timebase.Observation {
    /// Within what clocks can say: a time that is far out is as good as none, and must not overflow.
    fileprivate var bounded: Self {
        switch self {
        case .stamped(let reading): .stamped(reading.bounded)
        case .level(let before, let after, let left):
            .level(before: before.bounded, after: after.bounded, left: min(max(left, 0), 1 << 20))
        }
    }
}

extension ClockReading {
    /// 31 years of the monotonic clock; 1970 to 2112 of the wall clock.
    fileprivate var bounded: ClockReading {
        ClockReading(
            monotonic: min(max(monotonic, 0), 1_000_000_000_000_000_000),
            wall: min(max(wall, 0), 4_500_000_000_000_000_000))
    }
}

/// Which sample was taken when: a line through the times of the blocks of one unbroken stretch, without a step in it.
struct SampleLine: Sendable, Equatable {
    /// Time and number of the block's first sample, as the line has them.
    private var time: Double
    private var index: Int
    /// Nanoseconds from sample to sample in this block.
    private var interval: Double
    /// Whole nanoseconds that `time` counts from.
    private let origin: Int64

    /// Rounding of a recording's own times (ns).
    private static let rounding = 2.0

    init(time: Int64, interval: Double) {
        origin = time
        self.time = 0
        index = 0
        self.interval = interval
    }

    /// The next block: its first sample's number and time, and the interval as it is known now.
    /// - Returns: false when the block does not lie on the line at all.
    mutating func advance(to next: Int, time given: Int64, interval known: Double, count: Int) -> Bool {
        let expected = time + Double(next - index) * interval
        let error = Double(given &- origin) - expected
        guard abs(error) > Self.rounding || known != interval else { return true }
        guard abs(error) < 2 * known else { return false }
        (time, index) = (expected, next)
        // A quarter of what is off goes into each block.
        interval = known + (abs(error) > Self.rounding ? error / (4 * Double(max(1, count))) : 0)
        return true
    }

    /// Place of a moment among the samples.
    func place(of moment: Int64) -> (index: Int, fraction: Double) {
        let position = (Double(moment &- origin) - time) / interval
        let nearest = position.rounded()
        // What is a sample but for rounding is that sample.
        if abs(position - nearest) < 1e-6 { return (index + Int(nearest), 0) }
        let floor = position.rounded(.down)
        return (index + Int(floor), position - floor)
    }
}
