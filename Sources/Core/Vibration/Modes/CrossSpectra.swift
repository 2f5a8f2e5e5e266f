import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The cross-spectral matrix of three axes, added up over segments with a Hann window that overlap by half. Of the motion
/// it keeps half a segment: memory does not grow with time.
public struct CrossSpectra: Sendable {
    /// A Hermitian matrix of three axes: the diagonal, and xy, xz, yz as real and imaginary parts.
    struct Matrix: Sendable {
        var xx = 0.0, yy = 0.0, zz = 0.0
        var xy = (re: 0.0, im: 0.0), xz = (re: 0.0, im: 0.0), yz = (re: 0.0, im: 0.0)

        /// Times a vector of three complex numbers.
        func times(_ v: [Double]) -> [Double] {
            [
                xx * v[0] + xy.re * v[2] - xy.im * v[3] + xz.re * v[4] - xz.im * v[5],
                xx * v[1] + xy.re * v[3] + xy.im * v[2] + xz.re * v[5] + xz.im * v[4],
                xy.re * v[0] + xy.im * v[1] + yy * v[2] + yz.re * v[4] - yz.im * v[5],
                xy.re * v[1] - xy.im * v[0] + yy * v[3] + yz.re * v[5] + yz.im * v[4],
                xz.re * v[0] + xz.im * v[1] + yz.re * v[2] + yz.im * v[3] + zz * v[4],
                xz.re * v[1] - xz.im * v[0] + yz.re * v[3] - yz.im * v[2] + zz * v[5],
            ]
        }
    }

    /// Of each line.
    private(set) var sum: [Matrix]
    public private(set) var segments = 0
    private let length: Int
    /// The half segment before the next one: x, then y, then z; empty: the next one continues nothing.
    private var before: [Float] = []

    init(length: Int, lines: Int) {
        self.length = length
        sum = [Matrix](repeating: Matrix(), count: lines)
    }

    /// Forgets the motion, not the sum: what follows does not continue it.
    public mutating func interrupt() { before = [] }

    /// Begins anew, with motion that continues what came before.
    public mutating func restart() {
        sum = [Matrix](repeating: Matrix(), count: sum.count)
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
        let (n, half, plan) = (length, length / 2, FourierPlan(length: length))
        let window = (0..<n).map { 0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(n)) }
        var (input, output) = ([Double](repeating: 0, count: 2 * n), [Double](repeating: 0, count: 2 * n))
        var spectra = [[Double]](repeating: [], count: 3)
        for axis in 0..<3 {
            let (first, second) = (before[axis * half..<(axis + 1) * half], motion[axis * half..<(axis + 1) * half])
            let part = first.map { Double($0) } + second.map { Double($0) }
            let mean = part.reduce(0, +) / Double(n)
            for i in 0..<n { (input[2 * i], input[2 * i + 1]) = ((part[i] - mean) * window[i], 0) }
            plan.transform(input, &output)
            spectra[axis] = Array(output[..<(2 * sum.count)])
        }
        let (x, y, z) = (spectra[0], spectra[1], spectra[2])
        for k in sum.indices {
            let (a, b) = (2 * k, 2 * k + 1)
            sum[k].xx += x[a] * x[a] + x[b] * x[b]
            sum[k].yy += y[a] * y[a] + y[b] * y[b]
            sum[k].zz += z[a] * z[a] + z[b] * z[b]
            // Of X times the conjugate of Y.
            func cross(_ p: [Double], _ q: [Double]) -> (re: Double, im: Double) {
                (p[a] * q[a] + p[b] * q[b], p[b] * q[a] - p[a] * q[b])
            }
            let (xy, xz, yz) = (cross(x, y), cross(x, z), cross(y, z))
            sum[k].xy = (sum[k].xy.re + xy.re, sum[k].xy.im + xy.im)
            sum[k].xz = (sum[k].xz.re + xz.re, sum[k].xz.im + xz.im)
            sum[k].yz = (sum[k].yz.re + yz.re, sum[k].yz.im + yz.im)
        }
        segments += 1
    }
}
