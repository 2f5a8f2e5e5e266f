/// Sums of some samples of acceleration and of their products, for RMS, covariance and polarisation.
public struct MotionMoments: Sendable, Equatable {
    public private(set) var samples = 0
    /// m/s².
    public private(set) var x = 0.0
    public private(set) var y = 0.0
    public private(set) var z = 0.0
    /// m²/s⁴.
    public private(set) var xx = 0.0
    public private(set) var yy = 0.0
    public private(set) var zz = 0.0
    public private(set) var xy = 0.0
    public private(set) var xz = 0.0
    public private(set) var yz = 0.0

    public init() {}

    /// Takes one sample, m/s².
    @inline(__always)
    public mutating func add(_ ax: Double, _ ay: Double, _ az: Double) {
        samples += 1
        x += ax
        y += ay
        z += az
        xx += ax * ax
        yy += ay * ay
        zz += az * az
        xy += ax * ay
        xz += ax * az
        yz += ay * az
    }

    /// Takes the samples of another.
    public mutating func add(_ other: Self) {
        samples += other.samples
        x += other.x
        y += other.y
        z += other.z
        xx += other.xx
        yy += other.yy
        zz += other.zz
        xy += other.xy
        xz += other.xz
        yz += other.yz
    }

    /// √(sum of squares / samples), 0 without samples.
    public func rms(_ squares: Double) -> Double {
        samples > 0 ? (squares / Double(samples)).squareRoot() : 0
    }

    /// The covariance of the three axes about their means, m²/s⁴.
    public var covariance: SymmetricMatrix {
        let n = Double(max(1, samples))
        return SymmetricMatrix(
            xx: (xx - x * x / n) / n, yy: (yy - y * y / n) / n, zz: (zz - z * z / n) / n, xy: (xy - x * y / n) / n,
            xz: (xz - x * z / n) / n, yz: (yz - y * z / n) / n)
    }
}
