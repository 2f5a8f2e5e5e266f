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
