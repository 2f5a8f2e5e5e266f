import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Waits for the sensor to be at rest and says where gravity pulls from then. At rest: over two seconds no axis has a
/// standard deviation above 10 mg, which the noise of the cheapest chips stays below, its halves agree to 5 mg, and the
/// mean is 1 g within a fifth.
struct Levelling: Sendable {
    /// m/s².
    static let largestDeviation = 0.010 * standardGravity
    static let largestDrift = 0.005 * standardGravity
    private static let length = 2.0

    private let half: Int
    private var count = 0
    private var sum = (x: 0.0, y: 0.0, z: 0.0)
    private var squares = (x: 0.0, y: 0.0, z: 0.0)
    private var firstHalf = (x: 0.0, y: 0.0, z: 0.0)
    /// Taken off before squares are made.
    private var origin = (x: 0.0, y: 0.0, z: 0.0)

    init(rate: Double) { half = max(1, Int((Self.length * rate / 2).rounded())) }

    /// Begins anew.
    mutating func reset() {
        count = 0
        (sum, squares) = ((0, 0, 0), (0, 0, 0))
    }

    /// Takes a sample; the direction of gravity once it is known.
    mutating func take(_ x: Double, _ y: Double, _ z: Double) -> (x: Double, y: Double, z: Double)? {
        if count == 0 { origin = (x, y, z) }
        let (dx, dy, dz) = (x - origin.x, y - origin.y, z - origin.z)
        sum.x += dx
        sum.y += dy
        sum.z += dz
        squares.x += dx * dx
        squares.y += dy * dy
        squares.z += dz * dz
        count += 1
        if count == half { firstHalf = sum }
        guard count == 2 * half else { return nil }
        defer { reset() }
        let n = Double(count)
        let mean = (x: sum.x / n, y: sum.y / n, z: sum.z / n)
        func rests(_ mean: Double, _ squares: Double, _ first: Double) -> Bool {
            let variance = squares / n - mean * mean
            let drift = 2 * (first / Double(half) - mean)
            return variance <= Self.largestDeviation * Self.largestDeviation && drift.magnitude <= Self.largestDrift
        }
        guard rests(mean.x, squares.x, firstHalf.x), rests(mean.y, squares.y, firstHalf.y),
            rests(mean.z, squares.z, firstHalf.z)
        else { return nil }
        let (gx, gy, gz) = (origin.x + mean.x, origin.y + mean.y, origin.z + mean.z)
        let g = (gx * gx + gy * gy + gz * gz).squareRoot() / standardGravity
        return g > 0.8 && g < 1.2 ? (gx, gy, gz) : nil
    }
}

/// How far a sensor was found from level, and what is done about it.
public struct Level: Sendable, Equatable {
    /// Angle between the sensor's vertical, after axis map and rotation, and gravity's, degrees.
    public var tilt: Double
    /// Takes the one to the other.
    public var matrix: Matrix3

    init(gravity: (x: Double, y: Double, z: Double)) {
        matrix = Matrix3.upright(gravity.x, gravity.y, gravity.z)
        let side = (gravity.x * gravity.x + gravity.y * gravity.y).squareRoot()
        tilt = atan2(side, gravity.z) / Double.pi * 180
    }
}
