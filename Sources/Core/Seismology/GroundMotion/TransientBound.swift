import SignalProcessing

/// How far ground velocity and displacement may be off because a start, or a gap, hides what was before it.
///
/// The integrals begin at zero with the first sample as their level. If the ground moves then, both are wrong, and the
/// high passes forget that in some 20 s. This bounds the error at each sample: the answer of the same filters to a step of
/// the level and to a step of the velocity, times what the samples say of their sizes. A sample counts in a maximum only
/// where its error is small beside the motion (2 % after a start, 10 % after a gap that was bridged), or so small that no
/// intensity changes by it.
///
/// Acceleration without offset looks back as well, by what the removal of the offset remembers. It counts in its maximum in any
/// case, with the error that it may have: see ``UncertainPeaks``.
public struct TransientBound: Sendable {
    /// Errors that do not matter: m/s and m. Mercalli I begins far above.
    public static let (leastVelocity, leastDisplacement) = (5e-5, 1e-4)
    /// The same of the acceleration, m/s²; and what it may be off beside its maximum.
    static let leastAcceleration = 1e-3
    static let accelerationShare = 0.02
    /// Lower spikes are taken for noise, m/s².
    public static let leastSpike = 0.1
    /// The error that a maximum may have after a gap that was bridged; after a start it is a fifth of it.
    public static let share = 0.1
    /// Share of the bound of three standard deviations that may well have hidden a larger motion; the whole bound is the error
    /// that no maximum may have.
    public static let likelyShare = 0.5
    /// Steps of the tables per second, and their length, s.
    private static let (grid, length) = (16.0, 64)

    /// Largest answer of velocity and displacement, from each time on, to a step of the acceleration of 1 m/s², and to one of
    /// the velocity of 1 m/s; of the acceleration without offset to the same and to a step of the displacement of 1 m.
    private struct Answers: Sendable {
        var levelVelocity: [Double] = []
        var levelDisplacement: [Double] = []
        var velocity: [Double] = []
        var displacement: [Double] = []
        var levelAcceleration: [Double] = []
        var acceleration: [Double] = []
        var accelerationOfDisplacement: [Double] = []
    }

    /// Knowledge of the motion at a start.
    private struct Start: Sendable {
        var first: SIMD3<Double>
        /// How far that may be from the level, m/s²; nil: it is found from the samples.
        var uncertainty: Double?
        var samples = 0
        var sum = SIMD3<Double>.zero
        var squares = 0.0
        /// How far the first sample was from the mean so far, m/s²; the motion at the start, m/s and m, as far as it is known.
        var level = 0.0
        var velocity = 0.0
        var displacement = 0.0
        /// Samples whose motion is larger than their error.
        var clear = 0
    }

    /// Velocity (m/s), displacement (m) and acceleration (m/s²), or how far they may be off. (A structure, since Swift 6.0 does
    /// not compile tuples here.)
    private struct Motion: Sendable {
        var velocity = 0.0
        var displacement = 0.0
        var acceleration = 0.0
    }

    /// Possible errors at a gap, and samples since.
    private struct Gap: Sendable {
        var errors: Motion
        var samples = 0
    }

    private let rate: Double
    private let answers: Answers
    private var start: Start?
    private var gap: Gap?
    /// Whether that is of spikes alone.
    private var isOfSpikes = false
    /// The same of the removal of the offset alone.
    private var offsetLost: Gap?
    /// Largest motion of the last seconds that was certain, m/s and m: of the vector, beside which a start is judged, and of
    /// the larger horizontal, beside which a gap is.
    private var scale = Motion()
    private var horizontal = Motion()
    private let decay: Double

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - offset: removal of the offset that the acceleration has behind it.
    public init(rate: Double, offset: OffsetSpecification = .none) throws(FilterDesignError) {
        self.rate = rate
        decay = max(0, 1 - 1 / (10 * rate))
        answers = try Self.answers(rate: min(rate, 64), offset.independent(of: rate))
    }

    private static func answers(rate: Double, _ offset: OffsetSpecification) throws(FilterDesignError) -> Answers {
        let count = Int(Double(length) * rate)
        func envelope(_ signal: [Double]) -> [Double] {
            var found = [Double](repeating: 0, count: length * Int(grid) + 1)
            var (largest, k) = (0.0, count - 1)
            for place in stride(from: found.count - 1, through: 0, by: -1) {
                let first = Int(Double(place) / grid * rate)
                while k >= first {
                    largest = max(largest, abs(signal[k]))
                    k -= 1
                }
                found[place] = largest
            }
            return found
        }
        func answer(_ input: [Double]) throws(FilterDesignError) -> (velocity: [Double], displacement: [Double]) {
            var integrator = try GroundIntegrator(rate: rate)
            var (x, y, z) = (input, input, input)
            integrator.highpass(&x, &y, &z, count: count)
            integrator.velocity(&x, &y, &z, count: count)
            let velocity = x
            integrator.displacement(&x, &y, &z, count: count)
            return (envelope(velocity), envelope(x))
        }
        var step = [Double](repeating: 1, count: count)
        step[0] = 0
        var pulse = [Double](repeating: 0, count: count)
        pulse[1] = rate
        let (level, velocity) = (try answer(step), try answer(pulse))
        var doublet = pulse
        doublet[1] = rate * rate
        doublet[2] = -rate * rate
        /// Response of the removal of the offset to an input after so many samples of it.
        func leftOver(_ input: [Double], after first: Int) throws(FilterDesignError) -> [Double] {
            var removal = try OffsetRemoval(offset, rate: rate)
            guard removal.holdBack == 0 else { return [0] }
            var (x, y, z) = (input, input, input)
            removal.process(&x, &y, &z, count: count)
            let least = min(first, count)
            for i in 0..<least { x[i] = 0 }
            return envelope(x)
        }
        var found = Answers(
            levelVelocity: level.velocity, levelDisplacement: level.displacement, velocity: velocity.velocity,
            displacement: velocity.displacement)
        if offset != .none {
            found.levelAcceleration = try leftOver(step, after: 0)
            found.acceleration = try leftOver(pulse, after: 2)
            found.accelerationOfDisplacement = try leftOver(doublet, after: 3)
        }
        return found
    }

    /// Whether there is something to bound.
    public var isActive: Bool { start != nil || gap != nil || offsetLost != nil }

    /// The integrals begin anew.
    /// - Parameters:
    ///   - first: the level that they take, m/s².
    ///   - uncertainty: how far that may be from the true one, m/s²; nil: it is judged by the samples.
    public mutating func begin(first: SIMD3<Double>, uncertainty: Double? = nil) {
        start = Start(first: first, uncertainty: uncertainty)
        (gap, offsetLost) = (nil, nil)
        (scale, horizontal) = (Motion(), Motion())
    }

    /// A gap has been bridged, and the next sample is the first behind it.
    /// - Parameters:
    ///   - velocity: how far the velocity of an axis may be off, m/s.
    ///   - seconds: length of the gap.
    ///   - recent: largest velocity (m/s) and displacement (m) of a horizontal in the last seconds.
    public mutating func bridged(velocity: Double, seconds: Double, recent: (velocity: Double, displacement: Double)) {
        lose(velocity: velocity, displacement: velocity * seconds)
        if start == nil {
            scale = Motion(velocity: recent.velocity, displacement: recent.displacement)
            horizontal = scale
        }
    }

    /// The next sample is not what the ground did, but the sensor's end: it may have been more.
    /// - Parameter velocity: how far the velocity may be off by that, m/s.
    public mutating func clipped(velocity: Double) { lose(velocity: velocity, displacement: velocity / rate) }

    /// One of the samples before was a spike of the sensor or the bus, and not what the ground did.
    /// - Parameter velocity: what it has added to the velocity, m/s.
    public mutating func spiked(velocity: Double) {
        if gap == nil { isOfSpikes = true }
        loseMore(velocity: velocity, displacement: velocity / rate)
    }

    /// The removal of the offset has begun anew at the level, beside a motion of m/s and m: of what it remembered, as much may be
    /// missing. (Velocity and displacement have a start of their own.)
    public mutating func offsetBegan(velocity: Double, displacement: Double) {
        offsetLost = Gap(errors: Motion(velocity: velocity, displacement: displacement))
    }

    private mutating func lose(velocity: Double, displacement: Double) {
        isOfSpikes = false
        loseMore(velocity: velocity, displacement: displacement)
    }

    private mutating func loseMore(velocity: Double, displacement: Double) {
        let before = gap.map { gapErrors($0) } ?? Motion()
        gap = Gap(
            errors: Motion(velocity: velocity + before.velocity, displacement: displacement + before.displacement))
    }

    /// Samples of the gap itself that the integrals are given: the start goes on by them.
    public mutating func skip(_ count: Int) {
        start?.samples += count
        gap?.samples += count
    }

    private func at(_ table: [Double], _ samples: Int) -> Double {
        let place = Int(Double(samples) / rate * Self.grid)
        return place < table.count ? table[place] : 0
    }

    private func gapErrors(_ gap: Gap) -> Motion {
        let (velocity, displacement) = (at(answers.velocity, gap.samples), at(answers.displacement, gap.samples))
        return Motion(
            velocity: gap.errors.velocity * velocity,
            displacement: gap.errors.velocity * displacement + gap.errors.displacement * velocity,
            acceleration: accelerationError(gap))
    }

    private func accelerationError(_ gap: Gap) -> Double {
        gap.errors.velocity * at(answers.acceleration, gap.samples)
            + gap.errors.displacement * at(answers.accelerationOfDisplacement, gap.samples)
    }

    /// Writes for each sample 0 where its velocity and displacement are certain enough for a maximum, and otherwise how far
    /// they may be off, m/s and m; below 0 where that is of a start alone whose level is a sample, or of spikes alone.
    /// Called while it ``isActive``. Of the acceleration, which counts in any case: how far it may be off where that matters,
    /// below 0 where it is of a start alone.
    /// - Parameters:
    ///   - raw: three planes of acceleration, m/s², `stride` apart; velocity and displacement likewise.
    public mutating func process(
        raw: UnsafePointer<Double>, velocity: UnsafePointer<Double>, displacement: UnsafePointer<Double>, stride: Int,
        count: Int, _ velocityError: UnsafeMutablePointer<Double>, _ displacementError: UnsafeMutablePointer<Double>,
        _ accelerationError: UnsafeMutablePointer<Double>
    ) {
        func size(_ p: UnsafePointer<Double>, _ i: Int) -> Double {
            (p[i] * p[i] + p[stride + i] * p[stride + i] + p[2 * stride + i] * p[2 * stride + i]).squareRoot()
        }
        func larger(_ p: UnsafePointer<Double>, _ i: Int) -> Double { max(abs(p[i]), abs(p[stride + i])) }
        for i in 0..<count {
            let (v, d) = (size(velocity, i), size(displacement, i))
            var begun = Motion()
            var lost = Motion()
            let sign = (gap == nil || isOfSpikes) && start?.uncertainty == nil ? -1.0 : 1.0
            if var one = start {
                begun = errors(&one, SIMD3(raw[i], raw[stride + i], raw[2 * stride + i]), v, d)
                start = one.samples > Self.length * Int(rate.rounded(.up)) ? nil : one
            }
            if var one = gap {
                lost = gapErrors(one)
                one.samples += 1
                gap =
                    lost.velocity < 1e-2 * Self.leastVelocity && lost.displacement < 1e-2 * Self.leastDisplacement
                        && lost.acceleration < 1e-2 * Self.leastAcceleration
                    ? nil : one
            }
            if var one = offsetLost {
                let more = self.accelerationError(one)
                lost.acceleration += more
                one.samples += 1
                offsetLost = more < 1e-2 * Self.leastAcceleration ? nil : one
            }
            let off = begun.acceleration + lost.acceleration
            accelerationError[i] =
                off < Self.leastAcceleration ? 0 : lost.acceleration < 1e-2 * Self.leastAcceleration ? -off : off
            scale = Motion(velocity: scale.velocity * decay, displacement: scale.displacement * decay)
            horizontal = Motion(velocity: horizontal.velocity * decay, displacement: horizontal.displacement * decay)
            let isYoung = start.map { Double($0.samples) < rate } ?? false
            velocityError[i] = Self.judge(
                v, larger(velocity, i), begun.velocity, lost.velocity, least: Self.leastVelocity, isYoung, sign,
                &scale.velocity, &horizontal.velocity)
            displacementError[i] = Self.judge(
                d, larger(displacement, i), begun.displacement, lost.displacement, least: Self.leastDisplacement,
                isYoung, sign, &scale.displacement, &horizontal.displacement)
        }
    }

    /// 0 for a value that counts, and what it may be off for one that does not.
    /// - Parameters:
    ///   - value: of the vector.
    ///   - side: of the larger horizontal.
    private static func judge(
        _ value: Double, _ side: Double, _ start: Double, _ gap: Double, least: Double, _ isYoung: Bool,
        _ sign: Double, _ scale: inout Double, _ horizontal: inout Double
    ) -> Double {
        let sum = start + gap
        let (vector, larger) = (max(scale, value), max(horizontal, side))
        if sum <= least {
            if isYoung, sum > 0.1 * least { return sign * sum }
        } else if isYoung || 5 * start * larger + gap * vector >= share * vector * larger {
            return sign * (start + likelyShare * gap)
        }
        (scale, horizontal) = (vector, larger)
        return 0
    }

    /// Returns the possible errors of the next sample after a start.
    private func errors(
        _ one: inout Start, _ raw: SIMD3<Double>, _ v: Double, _ d: Double
    ) -> Motion {
        let (k, early) = (one.samples, Double(one.samples) / rate)
        one.samples += 1
        if early < 10 {
            let a = raw - one.first
            one.sum += a
            let mean = one.sum / Double(one.samples)
            let size = (mean * mean).sum().squareRoot()
            one.level = one.uncertainty ?? size
            if early < 2 { one.squares += (a * a).sum() }
        }
        let level = (at(answers.levelVelocity, k), at(answers.levelDisplacement, k))
        let (levelV, levelD) = (one.level * level.0, one.level * level.1)
        // The motion at the start is that of the first two seconds that show it, but no more than such an acceleration is
        // at 1/6 Hz.
        let n = Double(min(one.samples, max(1, Int(2 * rate))))
        let mean = one.level * one.level
        let acceleration = max(0, one.squares / n - (one.uncertainty == nil ? mean : 0)).squareRoot()
        if Double(one.clear) < 2 * rate, levelV < v / 2 || levelV < Self.leastVelocity {
            one.clear += 1
            one.velocity = max(one.velocity, v - levelV)
            one.displacement = max(one.displacement, d - levelD)
        }
        let (motionV, motionD) = (min(one.velocity, acceleration), min(one.displacement, acceleration))
        let (stepV, stepD) = (at(answers.velocity, k), at(answers.displacement, k))
        return Motion(
            velocity: levelV + motionV * stepV, displacement: levelD + motionV * stepD + motionD * stepV,
            acceleration: one.level * at(answers.levelAcceleration, k))
    }
}
