#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A complex number.
struct Complex: Sendable {
    var re: Double
    var im: Double

    var power: Double { re * re + im * im }

    static func + (a: Self, b: Self) -> Self { Self(re: a.re + b.re, im: a.im + b.im) }
    static func - (a: Self, b: Self) -> Self { Self(re: a.re - b.re, im: a.im - b.im) }
    static func * (a: Self, b: Self) -> Self { Self(re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re) }
    static func * (a: Self, scale: Double) -> Self { Self(re: a.re * scale, im: a.im * scale) }
    static func / (a: Self, b: Self) -> Self { a * Self(re: b.re, im: -b.im) * (1 / max(b.power, 1e-300)) }

    var root: Self {
        let size = power.squareRoot()
        let re = ((size + self.re) / 2).squareRoot(), im = max(0, (size - self.re) / 2).squareRoot()
        return Self(re: re, im: self.im < 0 ? -im : im)
    }
}

/// Poles of a motion of three axes from its correlation, by covariance-driven stochastic subspace identification (Peeters and
/// De Roeck, Reference-based stochastic subspace identification for output-only modal analysis, Mechanical Systems and Signal
/// Processing 13, 1999): the block Toeplitz matrix of the correlations is split by singular values, and the poles of a model of
/// each order are the eigenvalues of the shift within its observability matrix.
struct SubspaceIdentification {
    /// Block rows.
    static let rows = 16
    /// Correlations at lags of 1 to this number of steps are needed.
    static let lags = 2 * rows - 1
    /// The largest order.
    static let most = 24
    private static let size = 3 * rows
    private static let shorter = size - 3

    struct Pole {
        /// Factor of one step.
        var value: Complex
        /// Motion of x, y and z.
        var shape: [Complex]
    }

    /// The observability matrix, column by column.
    private let observability: [Double]
    /// The triangular factor of its upper rows, and its lower rows along the orthogonal one.
    private let triangle: [Double]
    private let shifted: [Double]
    /// Columns that are not nothing.
    private let rank: Int

    /// - Parameter correlations: nine numbers for each lag from 1 on, row by row.
    init(_ correlations: [Double]) {
        let (n, most) = (Self.size, Self.most)
        // Column by column: at row 3 i + a and column 3 j + b the correlation at lag rows + i - j.
        var toeplitz = [Double](repeating: 0, count: n * n)
        for j in 0..<Self.rows {
            for i in 0..<Self.rows {
                let lag = Self.rows + i - j - 1
                for a in 0..<3 {
                    for b in 0..<3 { toeplitz[(3 * j + b) * n + 3 * i + a] = correlations[9 * lag + 3 * a + b] }
                }
            }
        }
        Self.orthogonalise(&toeplitz, n)
        let sizes = (0..<n).map { column -> Double in
            var square = 0.0
            for i in 0..<n { square += toeplitz[column * n + i] * toeplitz[column * n + i] }
            return square.squareRoot()
        }
        let order = ascending(sizes.map { -$0 })
        let largest = sizes[order[0]]
        let rank = order.prefix(most).filter { sizes[$0] > 1e-10 * largest }.count
        var observability = [Double](repeating: 0, count: most * n)
        for k in 0..<rank {
            let scale = 1 / sizes[order[k]].squareRoot()
            for i in 0..<n { observability[k * n + i] = toeplitz[order[k] * n + i] * scale }
        }
        // Upper rows = orthogonal × triangle, by Gram and Schmidt, twice.
        let m = Self.shorter
        var orthogonal = [Double](repeating: 0, count: most * m)
        var triangle = [Double](repeating: 0, count: most * most)
        for k in 0..<rank {
            for i in 0..<m { orthogonal[k * m + i] = observability[k * n + i] }
            for _ in 0..<2 {
                for j in 0..<k {
                    var product = 0.0
                    for i in 0..<m { product += orthogonal[j * m + i] * orthogonal[k * m + i] }
                    triangle[j * most + k] += product
                    for i in 0..<m { orthogonal[k * m + i] -= product * orthogonal[j * m + i] }
                }
            }
            var square = 0.0
            for i in 0..<m { square += orthogonal[k * m + i] * orthogonal[k * m + i] }
            let length = square.squareRoot()
            triangle[k * most + k] = length
            for i in 0..<m { orthogonal[k * m + i] /= max(length, 1e-300) }
        }
        var shifted = [Double](repeating: 0, count: most * most)
        for j in 0..<rank {
            for k in 0..<rank {
                var sum = 0.0
                for i in 0..<m { sum += orthogonal[j * m + i] * observability[k * n + 3 + i] }
                shifted[j * most + k] = sum
            }
        }
        (self.observability, self.triangle, self.shifted, self.rank) = (observability, triangle, shifted, rank)
    }

    /// Turns the columns until each is at right angles to all others (Hestenes): they are then the left singular vectors times the
    /// singular values.
    private static func orthogonalise(_ columns: inout [Double], _ n: Int) {
        columns.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            for _ in 0..<30 {
                var isDone = true
                for p in 0..<n - 1 {
                    for q in p + 1..<n {
                        let (x, y) = (base + p * n, base + q * n)
                        var (xx, yy, xy) = (0.0, 0.0, 0.0)
                        for i in 0..<n {
                            xx += x[i] * x[i]
                            yy += y[i] * y[i]
                            xy += x[i] * y[i]
                        }
                        guard abs(xy) > 1e-12 * (xx * yy).squareRoot(), xy != 0 else { continue }
                        isDone = false
                        let zeta = (yy - xx) / (2 * xy)
                        let t = (zeta < 0 ? -1 : 1) / (abs(zeta) + (1 + zeta * zeta).squareRoot())
                        let c = 1 / (1 + t * t).squareRoot()
                        let s = c * t
                        for i in 0..<n { (x[i], y[i]) = (c * x[i] - s * y[i], s * x[i] + c * y[i]) }
                    }
                }
                if isDone { break }
            }
        }
    }

    /// The poles of the model of an order, those that turn forwards.
    func poles(order n: Int) -> [Pole] {
        guard n <= rank else { return [] }
        let most = Self.most
        // triangle × shift = shifted
        var shift = [Complex](repeating: Complex(re: 0, im: 0), count: n * n)
        for k in 0..<n {
            for i in (0..<n).reversed() {
                var sum = shifted[i * most + k]
                for j in i + 1..<n { sum -= triangle[i * most + j] * shift[j * n + k].re }
                shift[i * n + k].re = sum / max(triangle[i * most + i], 1e-300)
            }
        }
        return Self.eigenvalues(shift, n).compactMap { value in
            guard value.im > 1e-6, value.power <= 1 + 1e-9, let vector = Self.eigenvector(shift, n, value) else {
                return nil
            }
            let shape = (0..<3).map { axis -> Complex in
                var sum = Complex(re: 0, im: 0)
                for k in 0..<n { sum = sum + vector[k] * observability[k * Self.size + axis] }
                return sum
            }
            return Pole(value: value, shape: shape)
        }
    }

    /// By Hessenberg's form and shifted QR steps.
    private static func eigenvalues(_ matrix: [Complex], _ n: Int) -> [Complex] {
        var h = matrix
        for k in 0..<max(0, n - 2) {
            let pivot = (k + 1..<n).max { h[$0 * n + k].power < h[$1 * n + k].power } ?? k + 1
            if pivot != k + 1 {
                for j in 0..<n { h.swapAt(pivot * n + j, (k + 1) * n + j) }
                for i in 0..<n { h.swapAt(i * n + pivot, i * n + k + 1) }
            }
            guard h[(k + 1) * n + k].power > 0 else { continue }
            for i in k + 2..<n {
                let factor = h[i * n + k] / h[(k + 1) * n + k]
                guard factor.power > 0 else { continue }
                for j in 0..<n { h[i * n + j] = h[i * n + j] - factor * h[(k + 1) * n + j] }
                for j in 0..<n { h[j * n + k + 1] = h[j * n + k + 1] + factor * h[j * n + i] }
            }
        }
        var (values, last, steps) = ([Complex](), n - 1, 0)
        while last >= 0 {
            var low = last
            while low > 0 {
                let around = h[low * n + low].power + h[(low - 1) * n + low - 1].power
                if h[low * n + low - 1].power <= 1e-28 * max(around, 1e-300) { break }
                low -= 1
            }
            if low == last {
                values.append(h[last * n + last])
                (last, steps) = (last - 1, 0)
                continue
            }
            steps += 1
            guard steps < 300 else { return values }
            // Wilkinson's shift; another one where that goes in circles.
            let (a, b) = (h[(last - 1) * n + last - 1], h[(last - 1) * n + last])
            let (c, d) = (h[last * n + last - 1], h[last * n + last])
            let half = (a - d) * 0.5
            let root = (half * half + b * c).root
            let (one, two) = (d + half + root, d + half - root)
            var shift = (one - d).power < (two - d).power ? one : two
            if steps % 11 == 10 { shift = shift + Complex(re: c.power.squareRoot(), im: 0) }
            for i in low...last { h[i * n + i] = h[i * n + i] - shift }
            var turns: [(c: Double, s: Complex)] = []
            for k in low..<last {
                let (x, y) = (h[k * n + k], h[(k + 1) * n + k])
                let size = (x.power + y.power).squareRoot()
                let cosine = x.power.squareRoot() / max(size, 1e-300)
                let phase = x.power > 0 ? x * (1 / x.power.squareRoot()) : Complex(re: 1, im: 0)
                let sine = phase * Complex(re: y.re, im: -y.im) * (1 / max(size, 1e-300))
                turns.append((cosine, sine))
                for j in k...last {
                    let (p, q) = (h[k * n + j], h[(k + 1) * n + j])
                    h[k * n + j] = p * cosine + sine * q
                    h[(k + 1) * n + j] = q * cosine - Complex(re: sine.re, im: -sine.im) * p
                }
            }
            for k in low..<last {
                let (cosine, sine) = turns[k - low]
                for i in low...min(k + 1, last) {
                    let (p, q) = (h[i * n + k], h[i * n + k + 1])
                    h[i * n + k] = p * cosine + q * Complex(re: sine.re, im: -sine.im)
                    h[i * n + k + 1] = q * cosine - p * sine
                }
            }
            for i in low...last { h[i * n + i] = h[i * n + i] + shift }
        }
        return values
    }

    /// By two steps of inverse iteration.
    private static func eigenvector(_ matrix: [Complex], _ n: Int, _ value: Complex) -> [Complex]? {
        var lu = matrix
        let near = value + Complex(re: 1e-9, im: 1e-9)
        for i in 0..<n { lu[i * n + i] = lu[i * n + i] - near }
        var rows = Array(0..<n)
        for k in 0..<n {
            let pivot = (k..<n).max { lu[rows[$0] * n + k].power < lu[rows[$1] * n + k].power } ?? k
            rows.swapAt(k, pivot)
            let head = lu[rows[k] * n + k]
            guard head.power > 0 else { return nil }
            for i in k + 1..<n {
                let factor = lu[rows[i] * n + k] / head
                lu[rows[i] * n + k] = factor
                for j in k + 1..<n { lu[rows[i] * n + j] = lu[rows[i] * n + j] - factor * lu[rows[k] * n + j] }
            }
        }
        var vector = [Complex](repeating: Complex(re: 1, im: 0), count: n)
        for _ in 0..<3 {
            var next = rows.map { vector[$0] }
            for i in 0..<n { for j in 0..<i { next[i] = next[i] - lu[rows[i] * n + j] * next[j] } }
            for i in (0..<n).reversed() {
                for j in i + 1..<n { next[i] = next[i] - lu[rows[i] * n + j] * next[j] }
                next[i] = next[i] / lu[rows[i] * n + i]
            }
            let size = next.reduce(0) { $0 + $1.power }.squareRoot()
            guard size.isFinite, size > 0 else { return nil }
            vector = next.map { $0 * (1 / size) }
        }
        return vector
    }
}
