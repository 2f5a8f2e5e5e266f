import SignalProcessing

/// Ground velocity of three axes from acceleration without offset: Butterworth high pass of order 2 at 0.075 Hz,
/// trapezoidal integral, and the same high pass again, all causal and from zero.
public struct VelocityIntegrator: Sendable {
    private var before: AxisFilter
    private var after: AxisFilter
    private let halfInterval: Double
    private var lastX = 0.0
    private var lastY = 0.0
    private var lastZ = 0.0
    private var x = 0.0
    private var y = 0.0
    private var z = 0.0
    private var started = false

    /// The high pass's corner in Hz.
    public static let corner = 0.075

    public init(rate: Double) throws(FilterDesignError) {
        let design = try FilterSpecification.butterworth(
            .init(band: .highpass, corners: [Self.corner], order: 2, start: .zero)
        ).design(rate: rate)
        before = AxisFilter(design, design, design)
        after = before
        halfInterval = 1 / (2 * rate)
    }

    /// Forgets all samples.
    public mutating func reset() {
        before.reset()
        after.reset()
        (x, y, z, lastX, lastY, lastZ) = (0, 0, 0, 0, 0, 0)
        started = false
    }

    /// Turns `count` samples of acceleration (m/s²) into velocity (m/s), in place.
    public mutating func process(
        _ px: UnsafeMutablePointer<Double>, _ py: UnsafeMutablePointer<Double>, _ pz: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        guard count > 0 else { return }
        before.process(px, py, pz, count: count)
        if !started {
            started = true
            (lastX, lastY, lastZ) = (-px[0], -py[0], -pz[0])  // the integral is 0 at the first sample
        }
        for i in 0..<count {
            x += (px[i] + lastX) * halfInterval
            y += (py[i] + lastY) * halfInterval
            z += (pz[i] + lastZ) * halfInterval
            (lastX, lastY, lastZ) = (px[i], py[i], pz[i])
            (px[i], py[i], pz[i]) = (x, y, z)
        }
        after.process(px, py, pz, count: count)
    }
}
