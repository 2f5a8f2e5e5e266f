#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Nine numbers by rows.
public struct Matrix3: Sendable, Equatable {
    var a: (Double, Double, Double)
    var b: (Double, Double, Double)
    var c: (Double, Double, Double)

    static let identity = Matrix3((1, 0, 0), (0, 1, 0), (0, 0, 1))

    init(_ a: (Double, Double, Double), _ b: (Double, Double, Double), _ c: (Double, Double, Double)) {
        (self.a, self.b, self.c) = (a, b, c)
    }

    /// - Parameter rows: nine numbers; fewer are the identity.
    init(rows: [Double]) {
        guard rows.count == 9 else {
            self = .identity
            return
        }
        self.init((rows[0], rows[1], rows[2]), (rows[3], rows[4], rows[5]), (rows[6], rows[7], rows[8]))
    }

    public var rows: [Double] { [a.0, a.1, a.2, b.0, b.1, b.2, c.0, c.1, c.2] }

    @inline(__always)
    func times(_ x: Double, _ y: Double, _ z: Double) -> (x: Double, y: Double, z: Double) {
        (a.0 * x + a.1 * y + a.2 * z, b.0 * x + b.1 * y + b.2 * z, c.0 * x + c.1 * y + c.2 * z)
    }

    static func * (m: Matrix3, n: Matrix3) -> Matrix3 {
        let first = m.times(n.a.0, n.b.0, n.c.0)
        let second = m.times(n.a.1, n.b.1, n.c.1)
        let third = m.times(n.a.2, n.b.2, n.c.2)
        return Matrix3((first.x, second.x, third.x), (first.y, second.y, third.y), (first.z, second.z, third.z))
    }

    /// Nil when it has none.
    var inverse: Matrix3? {
        let (p, q, r) = (
            b.1 * c.2 - b.2 * c.1, b.2 * c.0 - b.0 * c.2, b.0 * c.1 - b.1 * c.0
        )
        let determinant = a.0 * p + a.1 * q + a.2 * r
        guard determinant.isFinite, determinant.magnitude > 1e-9 else { return nil }
        let d = 1 / determinant
        return Matrix3(
            (p * d, (a.2 * c.1 - a.1 * c.2) * d, (a.1 * b.2 - a.2 * b.1) * d),
            (q * d, (a.0 * c.2 - a.2 * c.0) * d, (a.2 * b.0 - a.0 * b.2) * d),
            (r * d, (a.1 * c.0 - a.0 * c.1) * d, (a.0 * b.1 - a.1 * b.0) * d))
    }

    /// Rz(yaw) · Ry(pitch) · Rx(roll), right-handed, degrees: takes a vector from the axes of a body that was turned about
    /// x, then y, then z, each of them fixed, to these fixed axes.
    static func turned(roll: Double, pitch: Double, yaw: Double) -> Matrix3 {
        let (cx, sx) = cosine(roll)
        let (cy, sy) = cosine(pitch)
        let (cz, sz) = cosine(yaw)
        return Matrix3((cz, -sz, 0), (sz, cz, 0), (0, 0, 1))
            * Matrix3((cy, 0, sy), (0, 1, 0), (-sy, 0, cy)) * Matrix3((1, 0, 0), (0, cx, -sx), (0, sx, cx))
    }

    /// Cosine and sine of an angle in degrees, exact at the quarters.
    private static func cosine(_ degrees: Double) -> (Double, Double) {
        switch degrees.truncatingRemainder(dividingBy: 360) {
        case 0: return (1, 0)
        case 90, -270: return (0, 1)
        case 180, -180: return (-1, 0)
        case 270, -90: return (0, -1)
        default:
            let angle = degrees / 180 * Double.pi
            return (cos(angle), sin(angle))
        }
    }

    /// The smallest rotation that takes a direction to +z (Rodrigues' formula); about x where the direction is −z.
    static func upright(_ x: Double, _ y: Double, _ z: Double) -> Matrix3 {
        let length = (x * x + y * y + z * z).squareRoot()
        guard length > 0 else { return identity }
        let (x, y, z) = (x / length, y / length, z / length)
        guard z > -1 + 1e-12 else { return Matrix3((1, 0, 0), (0, -1, 0), (0, 0, -1)) }
        // Axis × sine is (y, −x, 0), the cosine is z.
        let k = 1 / (1 + z)
        return Matrix3((1 - k * x * x, -k * x * y, -x), (-k * x * y, 1 - k * y * y, -y), (x, y, z))
    }

    public static func == (m: Matrix3, n: Matrix3) -> Bool { m.a == n.a && m.b == n.b && m.c == n.c }
}
