import SignalProcessing

/// What one event's ground motion amounts to: peaks with their times, and integrals over its samples.
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
    /// Peaks of velocity, m/s.
    public private(set) var velocityX = 0.0
    public private(set) var velocityY = 0.0
    public private(set) var velocityH = 0.0
    /// The acceleration at the peak of the 3-D vector, m/s².
    public private(set) var strongest: (x: Double, y: Double, z: Double) = (0, 0, 0)
    /// Trapezoidal integrals of a² (m²/s³) and of |a| (m/s) of x and y.
    public private(set) var squareIntegral: (x: Double, y: Double) = (0, 0)
    public private(set) var absoluteIntegral: (x: Double, y: Double) = (0, 0)
    /// True when a peak has grown since it was set to false.
    public var grown = false

    private let interval: Double
    private var last = MotionSample(ax: 0, ay: 0, az: 0, vx: 0, vy: 0, vz: 0)
    private var nextIndex: Int64?

    /// - Parameter rate: samples per second.
    public init(rate: Double) {
        interval = 1 / rate
    }

    /// Takes the next sample; integrals do not run over a gap.
    /// - Parameters:
    ///   - time: nanoseconds of UTC.
    ///   - index: number since the start of the agent, which rises by more than one over a gap.
    public mutating func add(_ s: MotionSample, time: Int64, index: Int64) {
        let (xx, yy) = (s.ax * s.ax, s.ay * s.ay)
        let horizontal = xx + yy
        var changed = x.take(abs(s.ax), time)
        changed = y.take(abs(s.ay), time) || changed
        changed = z.take(abs(s.az), time) || changed
        changed = h.take(horizontal.squareRoot(), time) || changed
        if v3.take((horizontal + s.az * s.az).squareRoot(), time) {
            strongest = (s.ax, s.ay, s.az)
            changed = true
        }
        let (vx, vy) = (abs(s.vx), abs(s.vy))
        let vh = (s.vx * s.vx + s.vy * s.vy).squareRoot()
        if vx > velocityX || vy > velocityY || vh > velocityH { changed = true }
        velocityX = max(velocityX, vx)
        velocityY = max(velocityY, vy)
        velocityH = max(velocityH, vh)
        if changed { grown = true }
        if index == nextIndex {
            squareIntegral.x += (xx + last.ax * last.ax) / 2 * interval
            squareIntegral.y += (yy + last.ay * last.ay) / 2 * interval
            absoluteIntegral.x += (abs(s.ax) + abs(last.ax)) / 2 * interval
            absoluteIntegral.y += (abs(s.ay) + abs(last.ay)) / 2 * interval
        }
        last = s
        nextIndex = index + 1
    }

    /// Peak acceleration by a horizontal definition, m/s².
    public func pga(_ horizontal: HorizontalDefinition) -> Double {
        horizontal.combine(x: x.value, y: y.value, vector: h.value)
    }

    /// Peak velocity by a horizontal definition, m/s.
    public func pgv(_ horizontal: HorizontalDefinition) -> Double {
        horizontal.combine(x: velocityX, y: velocityY, vector: velocityH)
    }

    /// Arias intensity π/(2g) ∫a² dt of the larger horizontal, m/s (Arias 1970).
    public var arias: Double {
        Double.pi / (2 * standardGravity) * max(squareIntegral.x, squareIntegral.y)
    }

    /// Cumulative absolute velocity ∫|a| dt of the larger horizontal, m/s (EPRI 1988).
    public var cav: Double { max(absoluteIntegral.x, absoluteIntegral.y) }
}
