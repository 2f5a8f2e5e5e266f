/// Everything the measures take from one sample: acceleration without offset (m/s²) and ground velocity (m/s).
public struct MotionSample: Sendable, Equatable {
    public var ax: Double
    public var ay: Double
    public var az: Double
    public var vx: Double
    public var vy: Double
    public var vz: Double

    public init(ax: Double, ay: Double, az: Double, vx: Double, vy: Double, vz: Double) {
        (self.ax, self.ay, self.az) = (ax, ay, az)
        (self.vx, self.vy, self.vz) = (vx, vy, vz)
    }
}
