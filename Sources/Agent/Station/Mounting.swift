import Instruments
import Sensors
import Settings
import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Turns the sensor's numbers into the station's: calibration, axis map, rotation, levelling, one after the other, as
/// one matrix and one offset. Where nothing but the axis map is asked for, numbers are copied, not computed.
struct Mounting: Sendable {
    /// How far from level the sensor was found; nil while not known or not asked for.
    private(set) var level: Level?

    private let axis: (Int, Int, Int)
    private let sign: (Double, Double, Double)
    private let offset: (x: Double, y: Double, z: Double)
    /// All but the levelling.
    private let fixed: Matrix3
    /// All, and its inverse; nil where the axis map is all there is.
    private var matrix: Matrix3?
    private var inverse: Matrix3?
    /// Looks for rest while it is asked for and has not been found.
    private var levelling: Levelling?
    private let wantsLevel: Bool

    init(_ sensor: SensorConfiguration, rate: Double) {
        let mounting = sensor.mounting
        let s = mounting.sources
        axis = (s.x.axis, s.y.axis, s.z.axis)
        sign = (s.x.sign, s.y.sign, s.z.sign)
        let o = sensor.calibration.offset
        offset = (o.x, o.y, o.z)
        func row(_ source: MountingConfiguration.Source) -> (Double, Double, Double) {
            let s = source.sign
            return source.axis == 0 ? (s, 0, 0) : source.axis == 1 ? (0, s, 0) : (0, 0, s)
        }
        let r = mounting.rotation
        fixed =
            Matrix3.turned(roll: r.x, pitch: r.y, yaw: r.z) * Matrix3(row(s.x), row(s.y), row(s.z))
            * Matrix3(rows: sensor.calibration.matrix)
        let isMapOnly =
            r == PerAxis(0) && o == PerAxis(0) && Matrix3(rows: sensor.calibration.matrix) == .identity
        wantsLevel = mounting.level
        levelling = mounting.level ? Levelling(rate: rate) : nil
        if !isMapOnly || mounting.level { use(fixed) }
    }

    private mutating func use(_ matrix: Matrix3) {
        self.matrix = matrix
        inverse = matrix.inverse
    }

    /// Goes on with the level that another one has found, where all before the levelling is the same.
    mutating func takeOver(_ old: Mounting) {
        guard wantsLevel, old.wantsLevel, fixed == old.fixed, offset == old.offset, let found = old.level else {
            return
        }
        take(found)
    }

    private mutating func take(_ found: Level) {
        level = found
        levelling = nil
        use(found.matrix * fixed)
    }

    /// Samples are missing: rest has to be looked for anew, where it has not been found.
    mutating func reset() { levelling?.reset() }

    /// Copies samples of a block into three planes, up to the first that is no number or beyond what any sensor
    /// measures, and up to the one with which the level is found; later ones are turned by it.
    /// - Returns: how many samples.
    mutating func copy(
        _ block: SampleBlock, from start: Int, count: Int, to planes: UnsafeMutablePointer<Double>
    ) -> Int {
        if let matrix { return transform(block, start, count, matrix, planes) }
        let capacity = Planes.capacity
        block.copy(axis: axis.0, from: start, count: count, to: planes)
        block.copy(axis: axis.1, from: start, count: count, to: planes + capacity)
        block.copy(axis: axis.2, from: start, count: count, to: planes + 2 * capacity)
        var taken = 0
        while taken < count, isUsable(planes[taken], planes[capacity + taken], planes[2 * capacity + taken]) {
            taken += 1
        }
        if sign.0 != 1 { for i in 0..<taken { planes[i] *= sign.0 } }
        if sign.1 != 1 { for i in capacity..<capacity + taken { planes[i] *= sign.1 } }
        if sign.2 != 1 { for i in 2 * capacity..<2 * capacity + taken { planes[i] *= sign.2 } }
        return taken
    }

    private mutating func transform(
        _ block: SampleBlock, _ start: Int, _ count: Int, _ matrix: Matrix3, _ planes: UnsafeMutablePointer<Double>
    ) -> Int {
        let (px, py, pz) = (planes, planes + Planes.capacity, planes + 2 * Planes.capacity)
        block.copy(axis: 0, from: start, count: count, to: px)
        block.copy(axis: 1, from: start, count: count, to: py)
        block.copy(axis: 2, from: start, count: count, to: pz)
        var i = 0
        while i < count, isUsable(px[i], py[i], pz[i]) {
            let v = matrix.times(px[i] - offset.x, py[i] - offset.y, pz[i] - offset.z)
            (px[i], py[i], pz[i]) = (v.x, v.y, v.z)
            i += 1
            if let gravity = levelling?.take(v.x, v.y, v.z) {
                take(Level(gravity: gravity))
                break
            }
        }
        return i
    }

    /// Whether a sample of the raw planes was at full scale in the sensor's own axes.
    @inline(__always)
    func isClipped(_ x: Double, _ y: Double, _ z: Double, _ fullScale: Double) -> Bool {
        guard matrix != nil else {
            return x.magnitude >= fullScale || y.magnitude >= fullScale || z.magnitude >= fullScale
        }
        return wasClipped(x, y, z, fullScale)
    }

    private func wasClipped(_ x: Double, _ y: Double, _ z: Double, _ fullScale: Double) -> Bool {
        guard let inverse else { return false }
        let v = inverse.times(x, y, z)
        return (v.x + offset.x).magnitude >= fullScale || (v.y + offset.y).magnitude >= fullScale
            || (v.z + offset.z).magnitude >= fullScale
    }
}

/// No sensor measures more than 10⁶ m/s²; NaN and infinities fail it too.
func isUsable(_ x: Double, _ y: Double, _ z: Double) -> Bool {
    x.magnitude <= 1e6 && y.magnitude <= 1e6 && z.magnitude <= 1e6
}

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
