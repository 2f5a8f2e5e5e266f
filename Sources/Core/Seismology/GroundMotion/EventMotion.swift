import SignalProcessing

/// Ground motion of one event: peaks with their times, and integrals over its samples.
public struct EventMotion: Sendable {
    /// A largest absolute value and the time (UTC, ns) of the first sample that had it.
    public struct Peak: Sendable, Equatable {
        public var value = 0.0
        public var time: Int64 = 0
        /// False until the first sample: a record may well begin at time 0.
        private var taken = false
        public init() {}

        @inline(__always)
        mutating func take(_ candidate: Double, _ t: Int64) -> Bool {
            guard candidate > value || !taken else { return false }
            (value, time, taken) = (candidate, t, true)
            return true
        }
    }

    /// Peaks of |x|, |y|, |z|, the horizontal and the 3-D vector, m/s².
    public private(set) var x = Peak()
    public private(set) var y = Peak()
    public private(set) var z = Peak()
    public private(set) var h = Peak()
    public private(set) var v3 = Peak()
    /// Peaks of velocity, m/s, and of displacement, m: those that are certain, or where these do not stand for the whole
    /// because it began in motion, those of the whole, as they are defined; see ``isVelocityCertain``.
    public var velocity: VelocityPeaks {
        guard let atStart, !isVelocityCertain else { return certainVelocity }
        var all = certainVelocity
        all.take(atStart.velocity)
        return all
    }
    public var displacement: HorizontalPeaks {
        guard let atStart, !isDisplacementCertain else { return certainDisplacement }
        var all = certainDisplacement
        all.take(atStart.displacement)
        return all
    }
    private struct Beginning: Sendable {
        var velocity = VelocityPeaks()
        var displacement = HorizontalPeaks()
    }
    private var certainVelocity = VelocityPeaks()
    private var certainDisplacement = HorizontalPeaks()
    /// Peaks of what is uncertain because of a start alone; nil: there was none.
    private var atStart: Beginning?
    /// Peak of the acceleration that Taiwan's scale takes, m/s².
    private var cwa = 0.0
    /// Motion that did not count in the peaks of velocity and displacement.
    private var uncertain = UncertainPeaks()
    /// The acceleration at the peak of the 3-D vector, m/s².
    public private(set) var strongest: (x: Double, y: Double, z: Double) = (0, 0, 0)
    /// Trapezoidal integrals of a² (m²/s³) and of |a| (m/s) of x and y.
    private(set) var squareIntegral: (x: Double, y: Double) = (0, 0)
    private(set) var absoluteIntegral: (x: Double, y: Double) = (0, 0)
    /// Sums of |x|, |y|, |z| over all samples, m/s².
    private var absoluteSum: (x: Double, y: Double, z: Double) = (0, 0, 0)
    /// Response spectrum of the horizontals, 5 % damped.
    public private(set) var spectrum: ResponseSpectrum
    private var samples = 0
    /// True when a peak has grown since it was set to false.
    public var grown = false

    private let rate: Double
    private let interval: Double
    private var last = MotionSample(ax: 0, ay: 0, az: 0)
    private var nextIndex: Int64?
    private var standardized = (x: StandardizedCAV(), y: StandardizedCAV())
    /// Samples since the first or since the last gap, whole seconds of them, and the sample that ends the next one.
    private var place = 0
    private var second = 0
    private var boundary = 0

    /// - Parameter rate: samples per second.
    public init(rate: Double) {
        self.rate = rate
        interval = 1 / rate
        spectrum = ResponseSpectrum(rate: rate)
    }

    /// Takes the next sample; integrals do not run over a gap.
    /// - Parameters:
    ///   - time: nanoseconds of UTC.
    ///   - index: number since the start of the agent, which rises by more than one over a gap.
    public mutating func add(_ s: MotionSample, time: Int64, index: Int64) {
        let (xx, yy) = (s.ax * s.ax, s.ay * s.ay)
        let horizontal = xx + yy
        let (x1, y1) = (abs(s.ax), abs(s.ay))
        var changed = x.take(x1, time)
        changed = y.take(y1, time) || changed
        changed = z.take(abs(s.az), time) || changed
        changed = h.take(horizontal.squareRoot(), time) || changed
        if v3.take((horizontal + s.az * s.az).squareRoot(), time) {
            strongest = (s.ax, s.ay, s.az)
            changed = true
        }
        if s.velocityError == 0 {
            changed = certainVelocity.take(s.vx, s.vy, s.vz) || changed
            cwa = max(cwa, s.cwa)
        } else {
            uncertain.takeVelocity(s.vx, s.vy, error: Double(abs(s.velocityError)))
            if s.velocityError < 0 {
                if atStart == nil { atStart = Beginning() }
                changed = atStart?.velocity.take(s.vx, s.vy, s.vz) == true || changed
                cwa = max(cwa, s.cwa)
            }
        }
        if s.displacementError == 0 {
            changed = certainDisplacement.take(s.dx, s.dy) || changed
        } else {
            uncertain.takeDisplacement(s.dx, s.dy, error: Double(abs(s.displacementError)))
            if s.displacementError < 0 {
                if atStart == nil { atStart = Beginning() }
                changed = atStart?.displacement.take(s.dx, s.dy) == true || changed
            }
        }
        if s.accelerationError == MotionSample.spike {
            doubtPeaks(at: time)
        } else if s.accelerationError != 0 {
            uncertain.takeAcceleration(s.ax, s.ay, error: Double(abs(s.accelerationError)))
        }
        if changed { grown = true }
        samples += 1
        defer { spectrum.add(s.ax, s.ay) }
        absoluteSum = (absoluteSum.x + x1, absoluteSum.y + y1, absoluteSum.z + abs(s.az))
        if index == nextIndex {
            squareIntegral.x += (xx + last.ax * last.ax) / 2 * interval
            squareIntegral.y += (yy + last.ay * last.ay) / 2 * interval
            let areaX = (x1 + abs(last.ax)) / 2 * interval
            let areaY = (y1 + abs(last.ay)) / 2 * interval
            absoluteIntegral.x += areaX
            absoluteIntegral.y += areaY
            standardized.x.add(x1, area: areaX)
            standardized.y.add(y1, area: areaY)
            place += 1
        } else {
            (place, second, boundary) = (0, 0, 0)
            spectrum.gap()
        }
        if place == boundary {
            standardized.x.begin(x1)
            standardized.y.begin(y1)
            second += 1
            boundary = max(place + 1, Int((Double(second) * rate).rounded()))
        }
        last = s
        nextIndex = index + 1
    }

    /// Peaks of the last moments may be a spike's.
    private mutating func doubtPeaks(at time: Int64) {
        let first = time - Int64(4e9 * SpikeFinder.loneliness)
        for peak in [x, y, z] where peak.time >= first { uncertain.doubt(peak.value) }
    }

    /// Takes the largest motion that there may have been in a gap that was bridged.
    public mutating func bridge(_ peaks: UncertainPeaks) { uncertain.take(peaks) }

    /// Whether the peaks of velocity, and those of displacement, stand for the whole: see ``UncertainPeaks``.
    public var isVelocityCertain: Bool { uncertain.allow(velocity: certainVelocity.horizontal) }
    public var isDisplacementCertain: Bool { uncertain.allow(displacement: certainDisplacement) }
    /// Whether the peaks of the acceleration are right to 2 %: those of the larger horizontal.
    public var isAccelerationCertain: Bool { uncertain.allow(acceleration: max(x.value, y.value)) }

    /// Peak acceleration by a horizontal definition, m/s².
    public func pga(_ horizontal: HorizontalDefinition) -> Double {
        horizontal.combine(x: x.value, y: y.value, vector: h.value)
    }

    /// Peak velocity by a horizontal definition, m/s.
    public func pgv(_ horizontal: HorizontalDefinition) -> Double { velocity.horizontal.combined(horizontal) }

    /// Returns the peaks from which intensities are computed.
    public func peaks(_ horizontal: HorizontalDefinition) -> IntensityPeaks {
        IntensityPeaks(pga: pga(horizontal), pgv: pgv(horizontal), cwa: cwa, vectorPGV: velocity.v3)
    }

    /// Peak displacement by a horizontal definition, m.
    public func pgd(_ horizontal: HorizontalDefinition) -> Double { displacement.combined(horizontal) }

    /// The horizontal axis with the larger Arias intensity: 0 for x, 1 for y.
    public var strongerHorizontal: Int { squareIntegral.y > squareIntegral.x ? 1 : 0 }

    /// Arias intensity π/(2g) ∫a² dt of the larger horizontal, m/s (Arias 1970).
    public var arias: Double {
        Double.pi / (2 * standardGravity) * max(squareIntegral.x, squareIntegral.y)
    }

    /// Cumulative absolute velocity ∫|a| dt of the larger horizontal, m/s (EPRI 1988).
    public var cav: Double { max(absoluteIntegral.x, absoluteIntegral.y) }

    /// CAV over the seconds that peak above 0.025 g alone, of the larger horizontal, m/s (Reed & Kassawara 1990).
    public var standardizedCAV: Double { max(standardized.x.value, standardized.y.value) }

    /// Mean |a| of each axis, m/s² (real-time seismic amplitude measurement, Endo & Murray 1991).
    public var meanAbsolute: (x: Double, y: Double, z: Double) {
        let n = Double(max(1, samples))
        return (absoluteSum.x / n, absoluteSum.y / n, absoluteSum.z / n)
    }
}
