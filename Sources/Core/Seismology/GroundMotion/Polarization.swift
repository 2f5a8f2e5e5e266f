import SignalProcessing

/// The line along which the ground moved most: the principal axis of the covariance of the three components
/// (Flinn 1965; Jurkevics 1988, BSSA 78).
///
/// A line has two directions; the one is given in which the strongest acceleration pointed. So a P wave, whose motion is
/// away from the source where it is upwards, comes from `azimuth` + 180° where `incidence` is below 90°, and from
/// `azimuth` where it is above.
public struct Polarization: Sendable, Equatable {
    /// Azimuth of its horizontal part, degrees clockwise from y, [0, 360).
    public var azimuth: Double
    /// From the upward vertical, degrees: 0 up, 90 horizontal, 180 down.
    public var incidence: Double
    /// 1 − (λ₂ + λ₃) / (2 λ₁): 1 motion on a line, 0.5 on a circle, 0 in all directions alike.
    public var rectilinearity: Double
}

extension MotionMoments {
    /// Nil where nothing moves, or with fewer than three samples.
    /// - Parameter strongest: the direction that decides between the two of the line.
    public func polarization(toward strongest: (x: Double, y: Double, z: Double)) -> Polarization? {
        let (first, second, third, axis) = covariance.eigen
        guard samples >= 3, first > 0 else { return nil }
        let along = axis.x * strongest.x + axis.y * strongest.y + axis.z * strongest.z
        let v = along < 0 ? -axis : axis
        return Polarization(
            azimuth: bearing(east: v.x, north: v.y),
            incidence: bearing(east: (v.x * v.x + v.y * v.y).squareRoot(), north: v.z),
            rectilinearity: 1 - (max(0, second) + max(0, third)) / (2 * first))
    }
}

extension EventRecord {
    /// The polarisation of the `seconds` from a place on, as much of them as there is before the next gap.
    public func polarization(from start: Int, seconds: Double) -> Polarization? {
        let gap = segments.first { $0.first > start }?.first ?? count
        let end = min(start + max(1, Int((seconds * rate).rounded())), count, gap)
        var moments = MotionMoments()
        var (strongest, largest) = ((x: 0.0, y: 0.0, z: 0.0), -1.0)
        var i = start
        while i < end {
            let a = self[i]
            moments.add(a.x, a.y, a.z)
            let square = a.x * a.x + a.y * a.y + a.z * a.z
            if square > largest { (strongest, largest) = (a, square) }
            i += 1
        }
        return moments.polarization(toward: strongest)
    }
}

/// A real symmetric 3 × 3 matrix.
public struct SymmetricMatrix: Sendable, Equatable {
    public var xx: Double
    public var yy: Double
    public var zz: Double
    public var xy: Double
    public var xz: Double
    public var yz: Double

    /// The eigenvalues, largest first, and the unit eigenvector of the largest, of either sign.
    ///
    /// By Jacobi's rotations (Golub & Van Loan, Matrix Computations, 8.5), which stay exact to rounding where
    /// eigenvalues coincide and the formula by the cubic's roots loses half of the digits.
    var eigen: (first: Double, second: Double, third: Double, axis: SIMD3<Double>) {
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
