import SignalProcessing

/// Ground velocity and displacement of three axes from acceleration without offset, all causal and from zero:
/// Butterworth high pass of order 2 at 0.075 Hz, trapezoidal integral, the same high pass: velocity; once more integral
/// and high pass: displacement.
public struct GroundIntegrator: Sendable {
    private var acceleration: AxisFilter
    private var velocity: IntegralStage
    private var displacement: IntegralStage

    /// The high pass's corner in Hz.
    public static let corner = 0.075

    /// - Parameter rate: samples per second; throws where the corner is no filter at it.
    public init(rate: Double) throws(FilterDesignError) {
        let design = try FilterSpecification.butterworth(
            .init(band: .highpass, corners: [Self.corner], order: 2, start: .zero)
        ).design(rate: rate)
        acceleration = AxisFilter(design, design, design)
        velocity = IntegralStage(filter: acceleration, rate: rate)
        displacement = velocity
    }

    /// Forgets all samples.
    public mutating func reset() {
        acceleration.reset()
        velocity.reset()
        displacement.reset()
    }

    /// Turns `count` samples of acceleration (m/s²) into velocity (m/s), in place.
    public mutating func velocity(
        _ px: UnsafeMutablePointer<Double>, _ py: UnsafeMutablePointer<Double>, _ pz: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        acceleration.process(px, py, pz, count: count)
        velocity.process(px, py, pz, count: count)
    }

    /// Turns the same samples' velocity (m/s) into displacement (m), in place.
    public mutating func displacement(
        _ px: UnsafeMutablePointer<Double>, _ py: UnsafeMutablePointer<Double>, _ pz: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        displacement.process(px, py, pz, count: count)
    }
}

/// Trapezoidal integral from the first sample, then the high pass.
private struct IntegralStage: Sendable {
    private var filter: AxisFilter
    private let halfInterval: Double
    private var lastX = 0.0
    private var lastY = 0.0
    private var lastZ = 0.0
    private var x = 0.0
    private var y = 0.0
    private var z = 0.0
    private var started = false

    init(filter: AxisFilter, rate: Double) {
        self.filter = filter
        halfInterval = 1 / (2 * rate)
    }

    mutating func reset() {
        filter.reset()
        (x, y, z, lastX, lastY, lastZ) = (0, 0, 0, 0, 0, 0)
        started = false
    }

    mutating func process(
        _ px: UnsafeMutablePointer<Double>, _ py: UnsafeMutablePointer<Double>, _ pz: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        guard count > 0 else { return }
        if !started {
            started = true
            (lastX, lastY, lastZ) = (-px[0], -py[0], -pz[0])  // the integral is 0 at the first sample
        }
        var (lastX, lastY, lastZ, x, y, z) = (lastX, lastY, lastZ, x, y, z)
        for i in 0..<count {
            x += (px[i] + lastX) * halfInterval
            y += (py[i] + lastY) * halfInterval
            z += (pz[i] + lastZ) * halfInterval
            (lastX, lastY, lastZ) = (px[i], py[i], pz[i])
            (px[i], py[i], pz[i]) = (x, y, z)
        }
        (self.lastX, self.lastY, self.lastZ, self.x, self.y, self.z) = (lastX, lastY, lastZ, x, y, z)
        filter.process(px, py, pz, count: count)
    }
}
