/// A real symmetric 3 × 3 matrix.
public struct SymmetricMatrix: Sendable, Equatable {
    public var xx: Double
    public var yy: Double
    public var zz: Double
    public var xy: Double
    public var xz: Double
    public var yz: Double

    public init(xx: Double, yy: Double, zz: Double, xy: Double, xz: Double, yz: Double) {
        (self.xx, self.yy, self.zz, self.xy, self.xz, self.yz) = (xx, yy, zz, xy, xz, yz)
    }

    /// The eigenvalues, largest first, and the unit eigenvector of the largest, of either sign.
    ///
    /// By Jacobi's rotations (Golub & Van Loan, Matrix Computations, 8.5), which stay exact to rounding where
    /// eigenvalues coincide and the formula by the cubic's roots loses half of the digits.
    public var eigen: (first: Double, second: Double, third: Double, axis: SIMD3<Double>) {
        var (xx, yy, zz, xy, xz, yz) = (xx, yy, zz, xy, xz, yz)
        var (u, v, w) = (SIMD3(1.0, 0, 0), SIMD3(0.0, 1, 0), SIMD3(0.0, 0, 1))
        var sweeps = 0
        // Converges quadratically: five sweeps for any numbers, the rest is caution.
        while xy != 0 || xz != 0 || yz != 0, sweeps < 12 {
            Self.rotate(&xx, &yy, &xy, &xz, &yz, &u, &v)
            Self.rotate(&xx, &zz, &xz, &xy, &yz, &u, &w)
            Self.rotate(&yy, &zz, &yz, &xy, &xz, &v, &w)
            sweeps += 1
        }
        if yy > xx { ((xx, u), (yy, v)) = ((yy, v), (xx, u)) }
        if zz > xx { ((xx, u), (zz, w)) = ((zz, w), (xx, u)) }
        return (xx, max(yy, zz), min(yy, zz), u)
    }

    /// Turns axes p and q so that their element pq becomes 0; r is the third axis.
    private static func rotate(
        _ pp: inout Double, _ qq: inout Double, _ pq: inout Double, _ pr: inout Double, _ qr: inout Double,
        _ p: inout SIMD3<Double>, _ q: inout SIMD3<Double>
    ) {
        guard pq != 0 else { return }
        let theta = (qq - pp) / (2 * pq)
        let t = (theta < 0 ? -1 : 1) / (abs(theta) + (theta * theta + 1).squareRoot())
        let c = 1 / (t * t + 1).squareRoot()
        let s = t * c
        pp -= t * pq
        qq += t * pq
        pq = 0
        (pr, qr) = (c * pr - s * qr, s * pr + c * qr)
        (p, q) = (c * p - s * q, s * p + c * q)
    }
}
