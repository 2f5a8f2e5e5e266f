/// The axis (0, 1, 2) with the largest value by magnitude; of equal ones the first.
public func largestAxis(_ a: (x: Double, y: Double, z: Double)) -> Int {
    if abs(a.z) > max(abs(a.x), abs(a.y)) { return 2 }
    return abs(a.y) > abs(a.x) ? 1 : 0
}

/// Everything the measures take from one sample: acceleration without offset (m/s²), ground velocity (m/s), horizontal
/// ground displacement (m) and what Taiwan's scale takes (``CentralWeatherAdministration/Acceleration``, m/s²; 0 where nobody
/// asks for it). Where velocity or displacement are too uncertain for a maximum, it says how far they may be off.
public struct MotionSample: Sendable, Equatable {
    public var ax: Double
    public var ay: Double
    public var az: Double
    public var vx: Double
    public var vy: Double
    public var vz: Double
    public var dx: Double
    public var dy: Double
    public var cwa: Double
    /// How far velocity (m/s) and displacement (m) may be off where they count in no maximum, else 0; see ``TransientBound``.
    /// Below 0 where that is of a start alone.
    public var velocityError: Float
    public var displacementError: Float
    /// How far the acceleration may be off, m/s²; below 0 where that is of a start alone.
    public var accelerationError: Float
    /// As ``accelerationError``: a spike of the sensor or the bus is known, which was a sample of the last 0.1 s.
    public static let spike = Float.infinity

    public init(
        ax: Double, ay: Double, az: Double, vx: Double = 0, vy: Double = 0, vz: Double = 0, dx: Double = 0,
        dy: Double = 0, cwa: Double = 0, velocityError: Float = 0, displacementError: Float = 0,
        accelerationError: Float = 0
    ) {
        (self.ax, self.ay, self.az) = (ax, ay, az)
        (self.vx, self.vy, self.vz) = (vx, vy, vz)
        (self.dx, self.dy, self.cwa) = (dx, dy, cwa)
        (self.velocityError, self.displacementError) = (velocityError, displacementError)
        self.accelerationError = accelerationError
    }
}
