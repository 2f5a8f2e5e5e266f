import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The cross-spectral matrix of three axes, added up over segments with a Hann window that overlap by half. Of the motion
/// it keeps half a segment: memory does not grow with time. Sums and motion are in single precision, which is enough for a
/// day of them: a sum of 2000 segments is exact to some 1e-6.
public struct CrossSpectra: Sendable {
    /// A vector of three complex numbers, one for each axis.
    struct Vector: Sendable {
        var re: SIMD3<Double>
        var im: SIMD3<Double>

        /// Its length, squared.
        var power: Double { (re * re).sum() + (im * im).sum() }

        /// The product of another one and its conjugate, as real and imaginary part.
        func product(_ other: Vector) -> (re: Double, im: Double) {
            ((re * other.re).sum() + (im * other.im).sum(), (re * other.im).sum() - (im * other.re).sum())
        }

        static func * (v: Vector, scale: Double) -> Vector { Vector(re: v.re * scale, im: v.im * scale) }
    }

    /// A Hermitian matrix of three axes: the diagonal, and xy, xz, yz as real and imaginary parts.
    struct Matrix: Sendable {
        var xx: Float = 0, yy: Float = 0, zz: Float = 0
        var xyRe: Float = 0, xyIm: Float = 0, xzRe: Float = 0, xzIm: Float = 0, yzRe: Float = 0, yzIm: Float = 0

        var diagonal: SIMD3<Double> { SIMD3(Double(xx), Double(yy), Double(zz)) }

        /// Adds the product of a vector and its conjugate.
        mutating func add(_ v: Vector) {
            func cross(_ a: Int, _ b: Int) -> (re: Double, im: Double) {
                (v.re[a] * v.re[b] + v.im[a] * v.im[b], v.im[a] * v.re[b] - v.re[a] * v.im[b])
            }
            let (xy, xz, yz) = (cross(0, 1), cross(0, 2), cross(1, 2))
            xx += Float(v.re.x * v.re.x + v.im.x * v.im.x)
            yy += Float(v.re.y * v.re.y + v.im.y * v.im.y)
            zz += Float(v.re.z * v.re.z + v.im.z * v.im.z)
            (xyRe, xyIm) = (xyRe + Float(xy.re), xyIm + Float(xy.im))
            (xzRe, xzIm) = (xzRe + Float(xz.re), xzIm + Float(xz.im))
            (yzRe, yzIm) = (yzRe + Float(yz.re), yzIm + Float(yz.im))
        }

        func times(_ v: Vector) -> Vector {
            let xy = (re: Double(xyRe), im: Double(xyIm)), xz = (re: Double(xzRe), im: Double(xzIm))
            let yz = (re: Double(yzRe), im: Double(yzIm)), (d, a, b) = (diagonal, v.re, v.im)
            return Vector(
                re: SIMD3(
                    d.x * a.x + xy.re * a.y - xy.im * b.y + xz.re * a.z - xz.im * b.z,
                    xy.re * a.x + xy.im * b.x + d.y * a.y + yz.re * a.z - yz.im * b.z,
                    xz.re * a.x + xz.im * b.x + yz.re * a.y + yz.im * b.y + d.z * a.z),
                im: SIMD3(
                    d.x * b.x + xy.re * b.y + xy.im * a.y + xz.re * b.z + xz.im * a.z,
                    xy.re * b.x - xy.im * a.x + d.y * b.y + yz.re * b.z + yz.im * a.z,
                    xz.re * b.x - xz.im * a.x + yz.re * b.y - yz.im * a.y + d.z * b.z))
        }
    }

    /// Summed cross-spectral matrix of each line.
    private(set) var sum: [Matrix]
    /// Sum of the squared powers of the segments, line by line.
    private var squares: [Float]
    /// Sum of the logarithms of the same.
    private var logarithms: [Float]
    public private(set) var segments = 0
    private let length: Int
    /// The half segment before the next one: x, then y, then z; empty: the next one continues nothing.
    private var before: [Float] = []

    /// - Parameter length: samples of a segment, an even number.
    init(length: Int, lines: Int) {
        self.length = length
        sum = [Matrix](repeating: Matrix(), count: lines)
        squares = [Float](repeating: 0, count: lines)
        logarithms = squares
    }

    /// Mean square of the power of the segments by their squared mean: 1 to 2 of motion that stays as it is, the more the
    /// fewer segments have most of it.
    func burst(_ line: Int) -> Double {
        let power = sum[line].diagonal.sum()
        return Double(squares[line]) * Double(segments) / max(power * power, 1e-300)
    }

    /// Logarithm of the power of a typical segment: a few that are far stronger hardly change it.
    func typical(_ line: Int) -> Double { Double(logarithms[line]) / Double(max(1, segments)) }

    /// Forgets the motion, not the sum: what follows does not continue it.
    public mutating func interrupt() { before = [] }

    /// Begins anew, with motion that continues what came before.
    public mutating func restart() {
        for k in sum.indices { (sum[k], squares[k], logarithms[k]) = (Matrix(), 0, 0) }
        segments = 0
    }

    /// Adds the next half segment; see ``ModeAnalysis/half(rate:)``.
    /// - Parameter motion: x, then y, then z; another number of samples is left out.
    public mutating func add(_ motion: [Float]) {
        guard motion.count == 3 * (length / 2) else { return }
        if before.count == motion.count { addSegment(motion) }
        before = motion
    }

    private mutating func addSegment(_ motion: [Float]) {
        let (n, half, lines) = (length, length / 2, sum.count)
        let plan = FourierPlan(length: half)
        // One piece of memory for all. Of more than 128 KiB, so that the system has it back at once; what is not written to
        // takes none.
        let room = UnsafeMutablePointer<Double>.allocate(capacity: max(2 * n + 6 * lines, 17_000))
        defer { room.deallocate() }
        let (input, output, spectra) = (room, room + n, room + 2 * n)
        for axis in 0..<3 {
            load(axis, motion, input)
            plan.transform(input, output)
            Self.separate(output, half, lines, spectra + 2 * axis * lines)
        }
        let (x, y, z) = (spectra, spectra + 2 * lines, spectra + 4 * lines)
        for k in 0..<lines {
            let (a, b) = (2 * k, 2 * k + 1)
            let vector = Vector(re: SIMD3(x[a], y[a], z[a]), im: SIMD3(x[b], y[b], z[b]))
            sum[k].add(vector)
            squares[k] += Float(vector.power * vector.power)
            logarithms[k] += Float(log(max(vector.power, 1e-300)))
        }
        segments += 1
    }

    /// A segment of one axis without its mean, through the window.
    private func load(_ axis: Int, _ motion: [Float], _ target: UnsafeMutablePointer<Double>) {
        let half = length / 2
        var total = 0.0
        for i in 0..<half {
            (target[i], target[half + i]) = (Double(before[axis * half + i]), Double(motion[axis * half + i]))
            total += target[i] + target[half + i]
        }
        let (mean, step) = (total / Double(length), 2 * Double.pi / Double(length))
        for i in 0..<length { target[i] = (target[i] - mean) * (0.5 - 0.5 * cos(step * Double(i))) }
    }

    /// The first lines of the spectrum of twice as many real numbers, out of the transform of these as if each two were
    /// one complex number.
    private static func separate(
        _ packed: UnsafePointer<Double>, _ half: Int, _ lines: Int, _ spectrum: UnsafeMutablePointer<Double>
    ) {
        for k in 0..<lines {
            let (a, b) = (2 * k, 2 * (k == 0 ? 0 : half - k))
            let even = (re: (packed[a] + packed[b]) / 2, im: (packed[a + 1] - packed[b + 1]) / 2)
            let odd = (re: (packed[a + 1] + packed[b + 1]) / 2, im: (packed[b] - packed[a]) / 2)
            let angle = -Double.pi * Double(k) / Double(half)
            let (c, s) = (cos(angle), sin(angle))
            spectrum[2 * k] = even.re + c * odd.re - s * odd.im
            spectrum[2 * k + 1] = even.im + c * odd.im + s * odd.re
        }
    }
}
